"""Honest float32 sums pass in any order; zeros, constants and sums in fewer bits do not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flashpath.course.grader.compare import Expected, compare
from flashpath.course.grader.dtypes import Array, dtype_of
from flashpath.course.grader.tolerance import allowed_error, growth
from flashpath.course.grader.values import fill

FLOAT32 = dtype_of("float32")
SUMMED = ("normal", "shifted", "positive", "tiny", "huge", "ties", "integers")
ROWS = 24  # as many outputs as a small case has


def _drawn(kind: str, n: int, seed: int, dtype: str = "float32") -> Array:
    return fill(kind, (ROWS, n), dtype_of(dtype), np.random.default_rng(seed), below=None)


def _expected_sum(x: Array, dtype: str = "float32") -> Expected:
    exact = x.astype(np.float64)
    truth, scale = exact.sum(axis=1), np.abs(exact).sum(axis=1)
    return Expected("y", truth, dtype_of(dtype), allowed_error(truth, dtype_of(dtype), x.shape[1], scale))


def _one_by_one(x: Array, dtype: str) -> Array:
    total = np.zeros(x.shape[0], dtype_of(dtype))
    for column in x.astype(dtype_of(dtype)).T:
        total = (total + column).astype(dtype_of(dtype))
    return total


def _tree(x: Array, dtype: str) -> Array:
    level = x.astype(dtype_of(dtype))
    while level.shape[1] > 1:
        if level.shape[1] % 2:
            level = np.concatenate([level, np.zeros((level.shape[0], 1), level.dtype)], axis=1)
        level = (level[:, 0::2] + level[:, 1::2]).astype(dtype_of(dtype))
    return level[:, 0]


def _strided(x: Array, dtype: str) -> Array:
    """256 threads with a partial sum each, then a tree of them: what a block does."""
    width = 256
    padded = np.zeros((x.shape[0], -(-x.shape[1] // width) * width), x.dtype)
    padded[:, : x.shape[1]] = x
    parts = padded.reshape(x.shape[0], -1, width)
    partial = np.stack([_one_by_one(parts[:, :, thread], dtype) for thread in range(width)], axis=1)
    return _tree(partial, dtype)


ORDERS: dict[str, Callable[[Array], Array]] = {
    "as they come": lambda x: x,
    "ascending": lambda x: np.sort(x, axis=1),
    "descending": lambda x: np.sort(x, axis=1)[:, ::-1],
    "by size": lambda x: np.take_along_axis(x, np.argsort(np.abs(x), axis=1), axis=1),
}


@settings(max_examples=60, deadline=None)
@given(
    kind=st.sampled_from(SUMMED),
    n=st.integers(1, 6000),
    order=st.sampled_from(sorted(ORDERS)),
    how=st.sampled_from([_one_by_one, _tree]),
    seed=st.integers(0, 2**32),
)
def test_a_float32_sum_is_right_in_any_order(
    kind: str, n: int, order: str, how: Callable[[Array, str], Array], seed: int
) -> None:
    x = _drawn(kind, n, seed)
    assert compare(_expected_sum(x), how(ORDERS[order](x), "float32")) is None


@settings(max_examples=25, deadline=None)
@given(
    kind=st.sampled_from(["normal", "shifted", "positive"]),
    n=st.integers(64, 5000),
    seed=st.integers(0, 2**32),
)
def test_zeros_and_constants_are_wrong(kind: str, n: int, seed: int) -> None:
    expected = _expected_sum(_drawn(kind, n, seed))
    for constant in (0.0, float(expected.value.mean()), float(expected.value[0]), np.nan, np.inf):
        assert compare(expected, np.full(ROWS, constant, np.float32)) is not None


@settings(max_examples=60, deadline=None)
@given(
    kind=st.sampled_from(["normal", "shifted", "positive"]),
    n=st.integers(64, 2500),
    narrow=st.sampled_from(["float16", "bfloat16"]),
    how=st.sampled_from([_one_by_one, _tree]),
    seed=st.integers(0, 2**32),
)
def test_a_sum_in_fewer_bits_is_wrong(
    kind: str, n: int, narrow: str, how: Callable[[Array, str], Array], seed: int
) -> None:
    # The inputs themselves fit into the narrow type, so that it is the sums alone that go wrong.
    x = _drawn(kind, n, seed, narrow).astype(np.float32)
    with np.errstate(over="ignore"):
        got = how(x, narrow).astype(np.float32)
    assert compare(_expected_sum(x), got) is not None


@pytest.mark.parametrize("narrow", ["float16", "bfloat16"])
@pytest.mark.parametrize("n", [64, 100, 1000, 4000])
def test_a_narrow_output_is_summed_in_float32(narrow: str, n: int) -> None:
    x = _drawn("normal", n, n, narrow)
    expected = _expected_sum(x, narrow)
    assert compare(expected, _one_by_one(x, "float32").astype(dtype_of(narrow))) is None
    assert compare(expected, _one_by_one(x, narrow)) is not None


def _to_tf32(x: Array) -> Array:
    """Ten bits of mantissa, rounded to the nearest, as tensor cores take float32."""
    bits = x.view(np.uint32)
    return ((bits + np.uint32(0x1000)) & np.uint32(0xFFFFE000)).view(np.float32)


@pytest.mark.parametrize("kind", ["normal", "shifted"])
@pytest.mark.parametrize("k", [16, 64, 128, 512, 1024])
@pytest.mark.parametrize("seed", range(3))
def test_a_product_in_tf32_is_wrong_and_in_float32_right(kind: str, k: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    a = fill(kind, (ROWS, k), FLOAT32, rng, below=None)
    b = fill(kind, (k, ROWS), FLOAT32, rng, below=None)
    truth = a.astype(np.float64) @ b.astype(np.float64)
    scale = np.abs(a.astype(np.float64)) @ np.abs(b.astype(np.float64))
    expected = Expected("c", truth, FLOAT32, allowed_error(truth, FLOAT32, k, scale))
    total = np.zeros_like(truth, np.float32)
    for step in range(k):
        total += a[:, step : step + 1] * b[step]
    assert compare(expected, total) is None
    rounded = (_to_tf32(a).astype(np.float64) @ _to_tf32(b).astype(np.float64)).astype(np.float32)
    assert compare(expected, rounded) is not None


@pytest.mark.parametrize("n", [1000, 4000])
def test_a_block_s_way_to_sum(n: int) -> None:
    x = _drawn("shifted", n, 5)
    assert compare(_expected_sum(x), _strided(x, "float32")) is None
    assert compare(_expected_sum(x), _strided(x, "bfloat16").astype(np.float32)) is not None


def test_what_is_rounded_once_is_at_most_one_unit_off() -> None:
    truth = np.array([1.0, -3.0, 1e-3, 1e30])
    allowed = allowed_error(truth, FLOAT32)
    assert (allowed <= 1.01 * np.finfo(np.float32).eps * np.abs(truth)).all()


def test_growth_has_no_step() -> None:
    depths = np.array([1, 2, 4, 4.0001, 16, 100, 10_000.0])
    assert np.allclose(growth(depths), [1, 2, 4, 4.00005, 8, 20, 200])
    assert growth(0.5) == 1  # no result is made without a rounding


# ---- What has no error ---------------------------------------------------------------------------------


def _right(value: Any, got: Any, dtype: str = "float32") -> bool:
    truth = np.array([value], np.float64)
    kind = dtype_of(dtype)
    expected = Expected("y", truth, kind, allowed_error(truth, kind))
    return compare(expected, np.array([got], np.float64).astype(kind)) is None


@pytest.mark.parametrize("other", [0.0, 1.0, np.inf, -np.inf])
def test_nan_is_no_wildcard(other: float) -> None:
    assert _right(np.nan, np.nan)
    assert not _right(other, np.nan)
    assert not _right(np.nan, other)


def test_infinities_match_in_sign() -> None:
    assert _right(np.inf, np.inf)
    assert not _right(np.inf, -np.inf)
    assert not _right(np.inf, 3.4e38)
    assert not _right(1.0, np.inf)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_is_beyond_the_type_is_infinite() -> None:
    assert _right(1e5, np.inf, "float16")
    assert not _right(1e5, -np.inf, "float16")
    assert not _right(1e5, 65504.0, "float16")
    assert _right(65510.0, 65504.0, "float16")
    assert not _right(60000.0, np.inf, "float16")
    assert _right(1e300, np.inf)


def test_signs_of_zero_do_not_matter() -> None:
    assert _right(0.0, -0.0)


def test_small_numbers_may_be_flushed_and_others_not() -> None:
    assert _right(1e-40, 0.0)
    assert not _right(1e-30, 0.0)
    assert _right(2.9e-8, 0.0, "float16")
    assert not _right(1e-4, 0.0, "float16")
