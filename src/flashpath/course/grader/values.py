"""How inputs are filled: each kind of values catches another kind of wrong kernel."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from flashpath.course.grader.dtypes import Array, finfo, is_float
from flashpath.errors import FlashpathError

_TIES = (-2.0, -0.5, 0.0, 0.5, 3.0)  # sums of them are exact in every type
_FLOAT_SPECIALS = (math.inf, -math.inf, 0.0, -0.0)
_NEAR_SHARE = 0.3  # of wide values
_MASKED_SHARE = 0.4  # of the elements of a row that is masked here and there
_EMPTY_SHARE = 0.15  # of pieces that have no element
_SPECIAL_SHARE = 0.15  # of the elements: enough to be met, few enough that sums survive elsewhere


def fill(
    kind: str, shape: tuple[int, ...], dtype: np.dtype[Any], rng: np.random.Generator, *, below: int | None
) -> Array:
    """An array of that kind of values, drawn from `rng`; `below` is the bound of `indices` and `starts`."""
    if kind == "indices":
        return _indices(shape, dtype, rng, below)
    if kind == "starts":
        return _starts(shape, dtype, rng, below)
    if kind not in _FLOATS:
        raise FlashpathError("course.grader.no-such-values", kind=kind, known=list(VALUES))
    if is_float(dtype):
        with np.errstate(over="ignore"):  # a huge value may round to inf in a narrow type
            return np.asarray(_FLOATS[kind](shape, dtype, rng)).astype(dtype).reshape(shape)
    if dtype == np.bool_:
        drawn = rng.integers(0, 2, shape)
        return np.zeros(shape, dtype) if kind == "zeros" else np.asarray(drawn).astype(dtype).reshape(shape)
    return _whole_numbers(kind, shape, dtype, rng)


def _indices(
    shape: tuple[int, ...], dtype: np.dtype[Any], rng: np.random.Generator, below: int | None
) -> Array:
    if below is None or (below < 1 and math.prod(shape)):
        raise FlashpathError("course.grader.indices-without-bound", below=below)
    return np.asarray(rng.integers(0, max(below, 1), shape)).astype(dtype).reshape(shape)


def _starts(
    shape: tuple[int, ...], dtype: np.dtype[Any], rng: np.random.Generator, below: int | None
) -> Array:
    # Of pieces of all lengths that share `below` elements: each row rises from 0 to `below`. Some are empty.
    if below is None:
        raise FlashpathError("course.grader.starts-without-bound")
    rows = shape or (1,)
    drawn = np.where(rng.random(rows) < _EMPTY_SHARE, 0, np.sort(rng.integers(0, below, rows, endpoint=True)))
    rising = np.maximum.accumulate(drawn, axis=-1)
    rising[..., :1] = 0
    rising[..., 1:][..., -1:] = below
    return rising.astype(dtype).reshape(shape)


# ---- Floating-point numbers ----------------------------------------------------------------------------

_Filler = Callable[[tuple[int, ...], "np.dtype[Any]", np.random.Generator], Any]


def _normal(shape: tuple[int, ...], dtype: np.dtype[Any], rng: np.random.Generator) -> Any:
    return rng.standard_normal(shape)


def _shifted(shape: tuple[int, ...], dtype: np.dtype[Any], rng: np.random.Generator) -> Any:
    return 100 + rng.standard_normal(shape)


def _positive(shape: tuple[int, ...], dtype: np.dtype[Any], rng: np.random.Generator) -> Any:
    return 0.1 + np.abs(rng.standard_normal(shape))


def _ties(shape: tuple[int, ...], dtype: np.dtype[Any], rng: np.random.Generator) -> Any:
    return rng.choice(_TIES, shape)


def _specials(shape: tuple[int, ...], dtype: np.dtype[Any], rng: np.random.Generator) -> Any:
    is_special = rng.random(shape) < _SPECIAL_SHARE
    return np.where(is_special, rng.choice(_FLOAT_SPECIALS, shape), rng.standard_normal(shape))


def _huge(shape: tuple[int, ...], dtype: np.dtype[Any], rng: np.random.Generator) -> Any:
    # Two fifths of the way to the largest: a product of two is still finite, and exp of one is not.
    return rng.standard_normal(shape) * float(finfo(dtype).max) ** 0.4


def _tiny(shape: tuple[int, ...], dtype: np.dtype[Any], rng: np.random.Generator) -> Any:
    return rng.standard_normal(shape) * float(finfo(dtype).tiny) ** 0.4


def _zeros(shape: tuple[int, ...], dtype: np.dtype[Any], rng: np.random.Generator) -> Any:
    return np.zeros(shape)


def _integers(shape: tuple[int, ...], dtype: np.dtype[Any], rng: np.random.Generator) -> Any:
    return rng.integers(-8, 9, shape)


def _wide(shape: tuple[int, ...], dtype: np.dtype[Any], rng: np.random.Generator) -> Any:
    # Some elements stay near the largest; how far the others lie below it differs from row to row, and so
    # does how far the whole row lies below 0.
    below = np.abs(rng.standard_normal(shape)) * _of_rows(shape, rng, 1.0, 300.0)
    near = rng.standard_normal(shape) - (_of_rows(shape, rng, 1.0, 300.0) if len(shape) > 1 else 0.0)
    return near - np.where(rng.random(shape) < _NEAR_SHARE, 0.0, below)


def _rising(shape: tuple[int, ...], dtype: np.dtype[Any], rng: np.random.Generator) -> Any:
    # The largest element comes late, and how much it grows on the way differs from row to row.
    steps = np.arange(shape[-1]) if shape else 0
    return rng.standard_normal(shape) + _of_rows(shape, rng, 0.01, 0.3) * steps


def _cliff(shape: tuple[int, ...], dtype: np.dtype[Any], rng: np.random.Generator) -> Any:
    # The first half of each row lies far below 0, the second as far above: beyond every number that stands in
    # for an infinity. A difference of two is still finite, a product of two is not.
    places = np.arange(shape[-1]) if shape else np.zeros(())
    below = 2 * places < (shape[-1] if shape else 0)
    return np.where(below, -1.0, 1.0) * (0.1 + 0.9 * rng.random(shape)) * float(finfo(dtype).max) / 4


def _of_rows(shape: tuple[int, ...], rng: np.random.Generator, low: float, high: float) -> Array:
    """Returns a factor for each row (for each element where there is one dimension), from low to high.

    They are spread evenly over the orders of magnitude, so that a few rows already have small and large ones.
    """
    kept = (*shape[:-1], 1) if len(shape) > 1 else shape
    count = max(math.prod(kept), 1)
    places = (rng.permutation(count) + rng.random(count)) / count
    return (low * (high / low) ** places[: math.prod(kept)]).reshape(kept)


def _masked(shape: tuple[int, ...], dtype: np.dtype[Any], rng: np.random.Generator) -> Any:
    # Scores under a mask, -inf where nothing is seen. Rows take turns: all is seen, nothing up to a place,
    # nothing from a place on, something here and there, nothing at all.
    scores = rng.standard_normal(shape)
    scattered = rng.random(shape) < _MASKED_SHARE
    if len(shape) < 2:
        return np.where(scattered, -np.inf, scores)
    kept = (*shape[:-1], 1)
    turns = (rng.permutation(math.prod(kept)).reshape(kept) + rng.integers(5)) % 5
    places, borders = np.arange(shape[-1]), rng.integers(0, shape[-1] + 1, kept)
    masks = (np.zeros(shape, bool), places < borders, places >= borders, scattered, turns == 4)
    return np.where(np.select([turns == number for number in range(5)], masks), -np.inf, scores)


def _bits(shape: tuple[int, ...], dtype: np.dtype[Any], rng: np.random.Generator) -> Any:
    # Half of the elements are any pattern of bits, with NaN, denormal numbers and both zeros among them.
    size = math.prod(shape)
    drawn = np.frombuffer(rng.bytes(size * dtype.itemsize), dtype).reshape(shape)
    specials = rng.choice((*_FLOAT_SPECIALS, math.nan), shape)
    ordinary = np.where(rng.random(shape) < _SPECIAL_SHARE, specials, rng.standard_normal(shape))
    return np.where(rng.random(shape) < 0.5, drawn, ordinary.astype(dtype))


_FLOATS: dict[str, _Filler] = {
    "normal": _normal,
    "shifted": _shifted,
    "positive": _positive,
    "ties": _ties,
    "specials": _specials,
    "huge": _huge,
    "tiny": _tiny,
    "zeros": _zeros,
    "integers": _integers,
    "wide": _wide,
    "rising": _rising,
    "cliff": _cliff,
    "masked": _masked,
    "bits": _bits,
}
VALUES = (*_FLOATS, "indices", "starts")


# ---- Whole numbers -------------------------------------------------------------------------------------


def _whole_numbers(
    kind: str, shape: tuple[int, ...], dtype: np.dtype[Any], rng: np.random.Generator
) -> Array:
    """The same kinds for integer types, within what the type holds."""
    least, most = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    low, high = {
        "normal": (-100, 100),
        "shifted": (80, 120),
        "positive": (1, 100),
        "ties": (0, 3),
        "specials": (-100, 100),
        "huge": (most // 4, most // 2),
        "tiny": (-1, 1),
        "zeros": (0, 0),
        "integers": (-8, 8),
        "wide": (-10_000, 0),
        "rising": (-100, 100),
        "cliff": (-100, 100),
        "masked": (-100, 100),
        "bits": (least, most),
    }[kind]
    drawn = rng.integers(max(low, least), min(high, most), shape, dtype, endpoint=True)
    drawn = np.asarray(drawn, dtype).reshape(shape)
    if kind == "specials":
        extremes = rng.choice(np.array([least, most, 0, 1], dtype), shape)
        drawn = np.where(rng.random(shape) < _SPECIAL_SHARE, extremes, drawn)
    return np.asarray(drawn, dtype).reshape(shape)
