"""An output beside what is expected: which elements differ, and which were never stored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from flashpath.course.grader.dtypes import Array, bits_of, finfo, is_float
from flashpath.errors import FlashpathError


@dataclass(frozen=True)
class Expected:
    """What an output must be: the reference's value, the type, and how far a float may lie from it."""

    name: str
    value: Array  # floats as float64; integers, and floats that are only moved, in the output's own type
    dtype: np.dtype[Any]
    allowed: Array | None  # None: bit by bit

    @property
    def as_stored(self) -> Array:
        """The value in the output's own type."""
        with np.errstate(over="ignore", invalid="ignore"):
            return self.value.astype(self.dtype)


@dataclass(frozen=True)
class Difference:
    """Where an output is not what is expected."""

    name: str
    wrong: Array  # True where it differs, unwritten elements too
    unwritten: Array  # True where no store has reached it
    index: tuple[int, ...]  # the first that differs, in the order of memory
    expected: Any
    got: Any
    allowed: float | None
    all_expected: Array

    @property
    def shape(self) -> tuple[int, ...]:
        return self.wrong.shape

    @property
    def count(self) -> int:
        return int(self.wrong.sum())

    def expected_at(self, index: tuple[int, ...]) -> Any:
        """What the element there must be."""
        return self.all_expected[index]

    @property
    def reason(self) -> str:
        return "unwritten" if self.unwritten.any() else "wrong"


def compare(expected: Expected, got: Array, written: Array | None = None) -> Difference | None:
    """None where every element is right. `written` says which elements a store reached, if that is known."""
    if got.shape != expected.value.shape:  # the border of functions looks at shapes before
        shapes = {"got": str(got.shape), "expected": str(expected.value.shape)}
        raise FlashpathError("course.grader.other-shape", name=expected.name, **shapes)
    wrong = ~_is_right(expected, got)
    if not wrong.any():
        return None
    unwritten = np.zeros_like(wrong) if written is None else wrong & ~written
    index = tuple(int(at) for at in np.unravel_index(int(np.argmax(wrong)), wrong.shape))
    allowed = None if expected.allowed is None else float(expected.allowed[index])
    value = expected.value
    return Difference(expected.name, wrong, unwritten, index, value[index], got[index], allowed, value)


def _is_right(expected: Expected, got: Array) -> Array:
    if expected.allowed is None:
        if expected.dtype == np.bool_:  # a byte that is neither 0 nor 1 is no bool
            return bits_of(got).reshape(got.shape) == expected.value.astype(np.uint8)
        if is_float(expected.dtype):
            return (bits_of(got) == bits_of(expected.value)).reshape(got.shape)
        return np.asarray(got == expected.value)
    value = expected.value
    with np.errstate(invalid="ignore", over="ignore"):
        number = got.astype(np.float64)
        near = np.abs(number - value) <= expected.allowed  # False for inf − inf and for NaN
        largest = _largest(expected.dtype)
        # A number at the edge of the type's range may round to either side of it.
        beyond = np.abs(value) + expected.allowed > largest
        over = np.isinf(number) & (np.sign(number) == np.sign(value)) & np.isfinite(value) & beyond
        # Float64 reaches further than the type: what is certainly beyond it has to be infinite.
        must_be_infinite = np.isfinite(value) & (np.abs(value) - expected.allowed > largest)
    same_kind = np.where(np.isnan(value), np.isnan(number), np.isinf(value) & (number == value))
    return (near & ~must_be_infinite) | over | same_kind


def _largest(dtype: np.dtype[Any]) -> float:
    """From half a step above the largest number on, rounding gives inf; the types without inf saturate."""
    if not is_float(dtype):
        return float("inf")
    info = finfo(dtype)
    return float(info.max) * (1 + float(info.eps) / 4)
