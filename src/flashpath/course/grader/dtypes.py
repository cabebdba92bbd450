"""The element types of exercises: their NumPy types, and how finely they tell numbers apart."""

from __future__ import annotations

import functools
from typing import Any, cast

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from flashpath.errors import FlashpathError

Array = NDArray[Any]

_OF_ML_DTYPES = ("bfloat16",)
_OF_NUMPY = (
    "float16", "float32", "float64",
    "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool",
)  # fmt: skip
DTYPES = (*_OF_NUMPY, *_OF_ML_DTYPES)

# Sums of narrow types are kept in float32, as tensor cores and every honest kernel do.
_ARITHMETIC_EPS = float(np.finfo(np.float32).eps)
_ARITHMETIC_TINY = float(np.finfo(np.float32).tiny)


@functools.cache
def dtype_of(name: str) -> np.dtype[Any]:
    """The NumPy type of that name."""
    if name in _OF_ML_DTYPES:
        return np.dtype(getattr(ml_dtypes, name))
    if name in _OF_NUMPY:
        return np.dtype(name)
    raise FlashpathError("course.grader.no-such-dtype", name=name, known=list(DTYPES))


def is_float(dtype: np.dtype[Any]) -> bool:
    """Whether numbers of this type are rounded; ml_dtypes' own have the kind of nothing in particular."""
    return dtype.kind == "f" or dtype.name in _OF_ML_DTYPES


def bits_of(array: Array) -> Array:
    """The same bytes as unsigned integers, so that NaN equals itself and −0 differs from 0."""
    return np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}")


def finfo(dtype: np.dtype[Any]) -> Any:
    """Like `np.finfo`, for ml_dtypes' own types as well."""
    return cast("Any", ml_dtypes).finfo(dtype)


def half_ulp(dtype: np.dtype[Any]) -> float:
    """The most that rounding to this type changes a number by, relative to it."""
    return float(finfo(dtype).eps) / 2


def arithmetic_half_ulp(dtype: np.dtype[Any]) -> float:
    """The same of the type that sums for an output of this type are expected to be kept in."""
    return min(half_ulp(dtype), _ARITHMETIC_EPS / 2)


def smallest(dtype: np.dtype[Any]) -> float:
    """What may be flushed to zero: numbers below the normal ones of the arithmetic."""
    return float(finfo(dtype).tiny) if dtype.itemsize == 8 else _ARITHMETIC_TINY


def exact_view(array: Array) -> Array:
    """Its numbers as references take them: floats as float64, integers as int64 (uint64 stays)."""
    if is_float(array.dtype):
        with np.errstate(invalid="ignore"):  # a signalling NaN among random bits becomes a quiet one
            return array.astype(np.float64)
    if array.dtype == np.bool_ or array.dtype == np.uint64:
        return array.copy()
    return array.astype(np.int64)
