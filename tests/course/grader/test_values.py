"""Every kind of values in every type, and poison that is never what is expected."""

from __future__ import annotations

import numpy as np
import pytest

from flashpath.course.grader.compare import Expected, compare
from flashpath.course.grader.dtypes import DTYPES, bits_of, dtype_of, exact_view, is_float
from flashpath.course.grader.poison import poisoned
from flashpath.course.grader.values import VALUES, fill
from flashpath.errors import FlashpathError


@pytest.mark.parametrize("shape", [(), (0,), (1,), (7, 5)])
@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("name", DTYPES)
def test_every_kind_in_every_type(name: str, kind: str, shape: tuple[int, ...]) -> None:
    dtype = dtype_of(name)
    array = fill(kind, shape, dtype, np.random.default_rng(3), below=9)
    assert array.shape == shape
    assert array.dtype == dtype
    again = fill(kind, shape, dtype, np.random.default_rng(3), below=9)
    assert array.tobytes() == again.tobytes()


def test_what_the_kinds_are() -> None:
    rng = np.random.default_rng(0)

    def drawn(kind: str, name: str = "float32") -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
        return fill(kind, (4000,), dtype_of(name), rng, below=7).astype(np.float64)

    assert abs(drawn("normal").mean()) < 0.1
    assert abs(drawn("shifted").mean() - 100) < 0.1
    assert drawn("positive").min() > 0
    assert len(np.unique(drawn("ties"))) < 10
    specials = drawn("specials")
    assert np.isinf(specials).any()
    assert (np.signbit(specials) & (specials == 0)).any()
    assert np.isfinite(specials).mean() > 0.8
    assert not np.isnan(specials).any()
    assert np.isfinite(drawn("huge") * drawn("huge")).all()
    assert np.isfinite(drawn("huge", "float16")).all()
    low, high = np.split(drawn("cliff"), 2)
    assert low.max() < -1e36
    assert high.min() > 1e36
    assert high.max() - low.min() < np.finfo(np.float32).max
    assert 0 < np.abs(drawn("tiny")).max() < 1e-10
    assert set(np.unique(drawn("integers"))) == set(range(-8, 9))
    assert set(np.unique(drawn("indices", "int64"))) == set(range(7))
    starts = drawn("starts", "int32")
    assert (starts[0], starts[-1]) == (0, 7)
    assert set(np.diff(starts)) == {0, 1}
    assert set(np.unique(drawn("integers", "uint8"))) == set(range(9))
    assert drawn("specials", "int32").min() == -(2**31)


@pytest.mark.parametrize("name", ["float16", "float32", "float64"])
def test_rows_of_masked_scores_take_turns(name: str) -> None:
    scores = fill("masked", (2, 5, 40), dtype_of(name), np.random.default_rng(4), below=None).reshape(10, 40)
    unseen = np.isneginf(scores)
    assert np.isfinite(scores[~unseen]).all()
    counts = unseen.sum(1)
    assert (counts == 0).any()
    assert (counts == 40).sum() >= 2  # nothing at all is seen
    changes = (unseen[:, 1:] != unseen[:, :-1]).sum(1)
    assert ((changes == 1) & unseen[:, 0]).any()  # nothing up to a place
    assert ((changes == 1) & ~unseen[:, 0]).any()  # nothing from a place on
    assert (changes > 3).any()  # here and there
    alone = fill("masked", (400,), dtype_of(name), np.random.default_rng(5), below=None)
    assert 0.2 < np.isneginf(alone).mean() < 0.6


def test_indices_need_a_bound() -> None:
    with pytest.raises(FlashpathError, match="bound"):
        fill("indices", (3,), dtype_of("int32"), np.random.default_rng(0), below=None)
    with pytest.raises(FlashpathError, match="bound"):
        fill("indices", (3,), dtype_of("int32"), np.random.default_rng(0), below=0)


def test_starts_are_those_of_pieces_that_share_a_length() -> None:
    starts = fill("starts", (200, 9), dtype_of("int32"), np.random.default_rng(0), below=40)
    lengths = np.diff(starts)
    assert lengths.min() == 0
    assert set(lengths.sum(1)) == {40}
    assert len(np.unique(lengths)) > 20
    assert not fill("starts", (5,), dtype_of("int32"), np.random.default_rng(0), below=0).any()
    with pytest.raises(FlashpathError, match="end of the last"):
        fill("starts", (3,), dtype_of("int32"), np.random.default_rng(0), below=None)


def test_unknown_words_are_refused() -> None:
    with pytest.raises(FlashpathError, match="wild"):
        fill("wild", (3,), dtype_of("int32"), np.random.default_rng(0), below=None)
    with pytest.raises(FlashpathError, match="float33"):
        dtype_of("float33")


@pytest.mark.parametrize("kind", ["normal", "specials", "zeros", "huge"])
@pytest.mark.parametrize("name", DTYPES)
def test_poison_is_never_what_is_expected(name: str, kind: str) -> None:
    expected = fill(kind, (2000,), dtype_of(name), np.random.default_rng(1), below=2)
    poison = poisoned(expected, np.random.default_rng(2))
    assert poison.dtype == expected.dtype
    assert (bits_of(poison) != bits_of(expected)).all()
    if is_float(expected.dtype):
        assert np.isnan(poison.astype(np.float32)).all()
    elif expected.dtype == np.bool_:
        assert bits_of(poison).min() > 1


def test_where_nan_is_expected_the_poison_is_a_number() -> None:
    expected = np.array([np.nan, 1.0], np.float32)
    poison = poisoned(expected, np.random.default_rng(2))
    assert np.isfinite(poison[0])
    assert np.isnan(poison[1])


def test_poison_differs_from_run_to_run() -> None:
    expected = np.zeros(64, np.float32)
    first, second = (poisoned(expected, np.random.default_rng(seed)) for seed in (1, 2))
    assert (bits_of(first) != bits_of(second)).mean() > 0.9


@pytest.mark.filterwarnings("error")
def test_signalling_nans_are_numbers_like_others() -> None:
    """Random bits hold them, and NumPy warns where one is widened: no learner is to read that."""
    signalling = np.array([0x7F800001, 0x3F800000], np.uint32).view(np.float32)
    seen = exact_view(signalling)
    assert np.isnan(seen[0])
    assert seen[1] == 1
    assert compare(Expected("y", seen, np.dtype(np.float32), np.zeros(2)), signalling) is None


def test_references_see_exact_numbers() -> None:
    assert exact_view(np.array([1.5], np.float16)).dtype == np.float64
    assert exact_view(np.array([2], np.int8)).dtype == np.int64
    assert exact_view(np.array([2**63], np.uint64))[0] == 2**63
    assert exact_view(np.array([True])).dtype == np.bool_
