"""What an exercise expects: its reference in float64, and how far each element may lie from it.

`reference.py` in the exercise's folder is content of the course, written by its authors, and defines
`reference`: its parameters have the names of the sizes, scalars and arrays that it wants, and it returns the
outputs in their order, or a dict of them.
"""

from __future__ import annotations

import functools
import importlib.util
import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np

from flashpath.course.content.exercise import Exercise
from flashpath.course.expressions import evaluate
from flashpath.course.grader.cases import Case, shape_of
from flashpath.course.grader.compare import Expected
from flashpath.course.grader.dtypes import Array, dtype_of, exact_view, is_float
from flashpath.course.grader.tolerance import allowed_error
from flashpath.errors import FlashpathError


def expected_outputs(exercise: Exercise, case: Case) -> tuple[Expected, ...]:
    """What each output must be, in the order in which the exercise names them."""
    names = {**case.sizes, **case.scalars, **case.inputs} if exercise.tolerance.exact else _names(case)
    with np.errstate(all="ignore"):
        truth = _truth(exercise, names)
        return tuple(_expected(exercise, case, name, truth, names) for name in output_names(exercise))


def output_names(exercise: Exercise) -> tuple[str, ...]:
    """Of a function what it returns, of a kernel what it writes."""
    return exercise.returns or tuple(exercise.outputs)


def _names(case: Case) -> dict[str, Any]:
    """What expressions may name: sizes, scalars and arrays before the launch, in their exact values."""
    arrays = {name: exact_view(array) for name, array in case.inputs.items()}
    scalars = {name: exact_view(np.asarray(value))[()] for name, value in case.scalars.items()}
    return {**case.sizes, **scalars, **arrays}


def _truth(exercise: Exercise, names: Mapping[str, Any]) -> dict[str, Any]:
    if exercise.reference_file is None:
        return {name: evaluate(text, names) for name, text in exercise.reference.items()}
    function = _function_of(exercise.reference_file)
    wanted = inspect.signature(function).parameters
    unknown = [name for name in wanted if name not in names]
    if unknown:
        raise FlashpathError(
            "course.grader.reference-asks", id=exercise.id, unknown=unknown, known=list(names)
        )
    result = function(**{name: names[name] for name in wanted})
    outputs = output_names(exercise)
    if isinstance(result, Mapping):
        return dict(cast("Mapping[str, Any]", result))
    results = cast("Sequence[Any]", result if isinstance(result, tuple) else (result,))
    if len(results) != len(outputs):
        raise FlashpathError(
            "course.grader.reference-returned",
            id=exercise.id,
            got=len(results),
            expected=len(outputs),
            names=list(outputs),
        )
    return dict(zip(outputs, results, strict=True))


@functools.cache
def _function_of(file: Path) -> Callable[..., Any]:
    spec = importlib.util.spec_from_file_location(f"flashpath_reference_{abs(hash(file))}", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    function = getattr(module, "reference", None)
    if not callable(function):
        raise FlashpathError("course.grader.no-reference", file=file)
    return function


def _expected(
    exercise: Exercise, case: Case, name: str, truth: Mapping[str, Any], names: Mapping[str, Any]
) -> Expected:
    value = np.asarray(truth[name])
    spec = exercise.arrays.get(name)
    if spec is not None and (not exercise.returns or spec.is_written):
        dtype = dtype_of(spec.dtype)
        value = np.broadcast_to(value, shape_of(spec, case.sizes))
    else:
        dtype = _returned_dtype(exercise, value)
    if not is_float(dtype):
        return Expected(name, _whole(value, dtype, exercise, name), dtype, None)
    if exercise.tolerance.exact:
        return Expected(name, value.astype(dtype), dtype, None)
    value = value.astype(np.float64)
    return Expected(name, value, dtype, _allowed(exercise, name, value, dtype, truth, names))


def _returned_dtype(exercise: Exercise, value: Array) -> np.dtype[Any]:
    """Of what a function returns: integers stay integers, floats are as fine as what they are made of."""
    if value.dtype.kind in "iub":
        return value.dtype
    given = [
        dtype_of(spec.dtype)
        for spec in (*exercise.arrays.values(), *exercise.scalars.values())
        if is_float(dtype_of(spec.dtype))
    ]
    coarse = [dtype for dtype in given if dtype != np.float64]
    return max(coarse, key=lambda dtype: -dtype.itemsize) if coarse else np.dtype(np.float64)


def _whole(value: Array, dtype: np.dtype[Any], exercise: Exercise, name: str) -> Array:
    if value.dtype.kind == "f":
        rounded = np.rint(value)
        if not (rounded == value).all():
            raise FlashpathError(
                "course.grader.reference-has-fractions", id=exercise.id, name=name, dtype=dtype
            )
        value = rounded
    return value.astype(dtype)


def _allowed(
    exercise: Exercise,
    name: str,
    value: Array,
    dtype: np.dtype[Any],
    truth: Mapping[str, Any],
    names: Mapping[str, Any],
) -> Array:
    known = {**truth, **names}  # of an inout array, what it was
    depth = np.asarray(evaluate(exercise.tolerance.depth_of(name), known), np.float64)
    scale, size = None, exercise.tolerance.scale_of(name)
    if size is not None:
        scale = np.asarray(evaluate(size, known), np.float64)
        # Outputs of other shapes than the one that the scale is of go by their own size.
        scale = scale if _fits(scale.shape, value.shape) else None
    return allowed_error(
        value, dtype, depth if _fits(depth.shape, value.shape) else float(depth.max()), scale
    )


def _fits(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    try:
        return np.broadcast_shapes(shape, target) == target
    except ValueError:
        return False
