"""The cases of one run: sizes, values and inputs, drawn from a seed that no answer can know.

Arrays are handed to the virtual GPU one by one: each stands alone in its memory, with nothing of another's
near, so that its bounds check finds every overrun by itself and no guard zones are needed around them.
"""

from __future__ import annotations

import math
import re
import secrets
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from flashpath.course.content.exercise import ArraySpec, Exercise, ScalarSpec
from flashpath.course.expressions import evaluate, evaluate_integer
from flashpath.course.grader.dtypes import Array, dtype_of
from flashpath.course.grader.values import fill
from flashpath.messages import Message, told


@dataclass(frozen=True)
class Case:
    """One case: its sizes, how inputs are filled, and the inputs themselves."""

    sizes: Mapping[str, int]
    values: str
    scalars: Mapping[str, Any]  # NumPy scalars of their own types
    inputs: Mapping[str, Array]  # arrays that have a value before the launch
    seed: int  # of what is drawn later on: the poison of outputs
    elements: int  # of all arrays together: what the case costs
    schedule: int = 0  # in which order warps and lanes take turns; 0 is the plain one
    named: Mapping[str, Any] | None = None  # the numbers that a learner knows by name; None: the sizes

    @property
    def said(self) -> Message:
        """The case in words: n = 1000, values shifted."""
        named = self.sizes if self.named is None else self.named
        parts: list[Any] = [
            f"{name} = {value:g}" if isinstance(value, np.floating) else f"{name} = {value}"
            for name, value in named.items()
        ]
        if self.inputs or self.named is None:
            parts.append(told("course.grader.values-of", values=self.values))
        return told("course.grader.case", parts=parts)

    @property
    def rng(self) -> np.random.Generator:
        """A generator of its own, the same at every call."""
        return np.random.default_rng(self.seed)


def fresh_seed() -> int:
    """A seed that nobody can foretell."""
    return secrets.randbits(128)


def cases_of(exercise: Exercise, seed: int) -> list[Case]:
    """All cases of an exercise, the cheapest first, so that the first failure is the smallest one."""
    rng = np.random.default_rng(seed)

    def draw(low: int, high: int) -> int:
        return int(rng.integers(low, high, endpoint=True))

    drawn = [(sizes, values) for spec in exercise.cases for sizes, values in spec.expand(draw)]
    drawn.sort(key=lambda each: _elements(exercise.arrays, each[0]))
    cases = [make_case(exercise, sizes, values, rng) for sizes, values in drawn]
    # A kernel that is right under one order of its threads alone is wrong.
    orders = [0 if number % 2 == 0 else draw(1, 2**62) for number in range(len(cases))]
    return [replace(case, schedule=order) for case, order in zip(cases, orders, strict=True)]


def telling_cases(exercise: Exercise, *, every: bool = False) -> list[Case]:
    """The cases by which mistakes are told apart, always the same ones.

    Of every kind of values it is the largest that is small enough, and the smallest case of all; `every`
    gives all of them.
    """
    cases = _drawn_once(exercise)
    if every or exercise.launch is None:
        return cases  # calls of a function cost little
    fitting = [case for case in cases if 0 < case.elements <= _MOST_ELEMENTS]
    largest = {case.values: case for case in fitting}
    return [*fitting[:1], *(case for case in largest.values() if case is not fitting[0])]


def _drawn_once(exercise: Exercise) -> list[Case]:
    """The cases of one seed, kept for the next answer; nobody writes into them."""
    drawn_of = (exercise.cases, exercise.scalars, exercise.arrays, exercise.arguments, exercise.launch)
    key = repr((exercise.folder, drawn_of))
    if key not in _DRAWN:
        while len(_DRAWN) >= _MOST_KEPT:
            _DRAWN.popitem(last=False)
        cases = [replace(case, schedule=0) for case in cases_of(exercise, _TELLING_SEED)]
        for array in (array for case in cases for array in case.inputs.values()):
            array.flags.writeable = False
        _DRAWN[key] = cases
    return list(_DRAWN[key])


_DRAWN = OrderedDict[str, list[Case]]()
_MOST_KEPT = 8
_TELLING_SEED = 1
_MOST_ELEMENTS = 20_000  # of a case that mutants are tried on, so that a hint comes soon


def _elements(arrays: Mapping[str, ArraySpec], sizes: Mapping[str, int]) -> int:
    return sum(math.prod(shape_of(spec, sizes)) for spec in arrays.values())


def shape_of(spec: ArraySpec, sizes: Mapping[str, int]) -> tuple[int, ...]:
    """The array's shape for these sizes."""
    return tuple(evaluate_integer(extent, sizes) for extent in spec.shape)


def make_case(
    exercise: Exercise,
    sizes: Mapping[str, int],
    values: str,
    rng: np.random.Generator,
    only: Iterable[str] | None = None,
) -> Case:
    """A case with its inputs drawn; `only`: which scalars and arrays are wanted."""
    wanted = None if only is None else set(only)
    scalars = {
        name: _scalar(spec, sizes, values, rng)
        for name, spec in exercise.scalars.items()
        if wanted is None or name in wanted
    }
    inputs: dict[str, Array] = {}
    for name, spec in exercise.arrays.items():
        if spec.is_input and (wanted is None or name in wanted):
            inputs[name] = _array(spec, sizes, values, inputs, rng)
    return Case(
        dict(sizes),
        values,
        scalars,
        inputs,
        int(rng.integers(1 << 62)),
        _elements(exercise.arrays, sizes),
        named=None if exercise.launch is not None else _named(exercise, sizes, scalars),
    )


def _named(exercise: Exercise, sizes: Mapping[str, int], scalars: Mapping[str, Any]) -> dict[str, Any]:
    """What a function is given, and the extents of its arrays; other sizes only serve to draw these."""
    shapes = " ".join(extent for spec in exercise.arrays.values() for extent in spec.shape)
    known = {*exercise.arguments, *re.findall(r"[A-Za-z_]\w*", shapes)}
    named = {name: size for name, size in sizes.items() if name in known}
    return named | {name: scalars[name] for name in exercise.arguments if name in scalars}


def _scalar(spec: ScalarSpec, sizes: Mapping[str, int], values: str, rng: np.random.Generator) -> Any:
    dtype = dtype_of(spec.dtype)
    if spec.value is not None:
        return np.asarray(evaluate(spec.value, sizes)).astype(dtype)[()]
    return fill(spec.values or values, (), dtype, rng, below=None)[()]


def _array(
    spec: ArraySpec,
    sizes: Mapping[str, int],
    values: str,
    before: Mapping[str, Array],
    rng: np.random.Generator,
) -> Array:
    if spec.value is not None:
        value = np.asarray(evaluate(spec.value, {**sizes, **before}))
        return np.broadcast_to(value, shape_of(spec, sizes)).astype(dtype_of(spec.dtype))
    below = None if spec.below is None else evaluate_integer(spec.below, sizes)
    return fill(spec.values or values, shape_of(spec, sizes), dtype_of(spec.dtype), rng, below=below)
