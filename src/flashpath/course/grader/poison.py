"""What outputs hold before a launch: never what is expected, so that an element never stored is seen.

A kernel that leaves an element alone leaves its poison there, bit for bit. The parent alone knows both the
poison and what is expected, and they differ in every element, so that stale memory is never right by luck.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from flashpath.course.grader.dtypes import Array, bits_of, finfo, is_float


def poisoned(expected: Array, rng: np.random.Generator) -> Array:
    """An array of the type and shape of `expected` that differs from it in every element.

    Floats are NaN with a random payload, so that arithmetic on them spoils the result too; where NaN itself
    is expected, a random finite number. Integers are what is expected with some bits turned over. A bool is
    a byte that is neither 0 nor 1.
    """
    dtype = expected.dtype
    unsigned = np.dtype(f"u{dtype.itemsize}")
    if dtype == np.bool_:
        return _drawn(rng, 2, 255, expected.shape, unsigned).view(np.bool_)
    if is_float(dtype):
        return np.where(np.isnan(expected), _finite(expected, rng), _nans(expected.shape, dtype, rng))
    turned = _drawn(rng, 1, int(np.iinfo(unsigned).max), expected.shape, unsigned)
    return (bits_of(expected).reshape(expected.shape) ^ turned).view(dtype)


def _drawn(
    rng: np.random.Generator, low: int, high: int, shape: tuple[int, ...], dtype: np.dtype[Any]
) -> Array:
    return np.asarray(rng.integers(low, high, shape, dtype, endpoint=True), dtype).reshape(shape)


def _nans(shape: tuple[int, ...], dtype: np.dtype[Any], rng: np.random.Generator) -> Array:
    """Quiet NaN, none of them the one that hardware makes (all payload bits set, or none)."""
    unsigned = np.dtype(f"u{dtype.itemsize}")
    stored = int(finfo(dtype).nmant)
    exponent = ((1 << (8 * dtype.itemsize - 1 - stored)) - 1) << stored
    quiet = 1 << (stored - 1)
    payload = _drawn(rng, 1, quiet - 2, shape, unsigned)
    return (payload | np.array(exponent | quiet, unsigned)).astype(unsigned).view(dtype)


def _finite(expected: Array, rng: np.random.Generator) -> Array:
    return np.asarray(rng.uniform(1.0, 2.0, expected.shape)).astype(expected.dtype)
