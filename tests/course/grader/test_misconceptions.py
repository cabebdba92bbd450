"""The hint of a mistake comes in whatever words the mistake is written, and no other's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from flashpath.course.content import load_course
from flashpath.course.grader import grade
from flashpath.course.grader.compare import Expected
from flashpath.course.grader.misconceptions import Left, Seen, is_same

RESCALED = "total = total * tl.exp(m - larger) + tl.sum(tl.exp(x - larger), 0)"


@pytest.mark.parametrize(
    ("instead", "mutant"),
    [
        ("total += tl.sum(tl.exp(x - larger), 0)", "not-rescaled"),
        ("total = tl.sum(tl.exp2((x - larger) * 1.4426950408889634), 0) + total", "not-rescaled"),
        # All of this is NaN, to which many mistakes lead.
        ("total = total / tl.exp(m - larger) + tl.sum(tl.exp(x - larger), 0)", None),
    ],
    ids=["added", "in powers of two", "divided"],
)
def test_a_mistake_in_other_words(instead: str, mutant: str | None, tmp_path: Path) -> None:
    exercise = load_course().exercise("triton-softmax/online-softmax")
    source = exercise.solution_text()
    assert source.count(RESCALED) == 1
    file = tmp_path / "mine.py"
    file.write_text(source.replace(RESCALED, instead), encoding="utf-8")
    result = grade(exercise, file, seed=1)
    assert (result.reason, result.mutant) == ("wrong", mutant), str(result)


TRUTH = Expected("y", np.array([1.0, 2.0, 3.0]), np.dtype(np.float32), np.full(3, 1e-6))


def left(*values: float) -> Left:
    return Left(np.array(values, np.float32), TRUTH)


def test_results_that_differ_by_rounding_alone_are_alike() -> None:
    own = left(1.0, 2.5, 3.0)
    assert own.is_like(left(1.0, 2.5, 3.0))
    assert own.is_like(left(1.0, 2.5000005, 3.0))
    assert not own.is_like(left(1.0, 2.5001, 3.0))
    assert not own.is_like(left(1.0, 2.5, 3.1))
    assert left(1.0, np.nan, 3.5).is_like(left(1.0, np.nan, 3.5))
    assert not left(1.0, np.nan, 3.5).is_like(left(1.0, 2.0, 3.5))


def test_a_large_error_elsewhere_hides_no_difference() -> None:
    """A clamp at -100 is none at -69, however far other elements are from the truth."""
    truth = Expected("y", np.array([-1e15, -200.0]), np.dtype(np.float32), np.array([1e9, 1e-4]))
    first, second = (Left(np.array([low, low], np.float32), truth) for low in (-100.0, -69.0))
    assert not first.is_like(second)


def test_errors_as_small_as_rounding_tell_nothing_unless_they_are_the_same() -> None:
    own = left(1.0, 2.000005, 3.0)
    assert not own.is_like(left(1.0, 2.000006, 3.0))
    assert own.is_like(left(1.0, 2.000005, 3.0))


def test_a_number_is_not_like_infinity() -> None:
    """A hidden score is -inf: to leave it out, or to write a number for it, are two mistakes."""
    truth = Expected("s", np.array([2.0, -np.inf]), np.dtype(np.float32), np.full(2, 1e-6))
    hidden, number = (Left(np.array([2.5, last], np.float32), truth) for last in (-np.inf, 3.0))
    assert not hidden.is_like(number)
    assert not number.is_like(hidden)
    assert hidden.is_like(Left(np.array([2.5000005, -np.inf], np.float32), truth))


def test_almost_zero_is_not_zero() -> None:
    assert not left(1e-9, 0.0, 0.0).is_like(left(0.0, 0.0, 0.0))


def test_every_case_must_agree() -> None:
    own = (Seen.of([left(1.0, 2.5, 3.0)]), Seen.of([left(1.0, 4.0, 3.0)]))
    assert is_same(own, (Seen.of([left(1.0, 2.5, 3.0)]), Seen.of([left(1.0, 4.0, 3.0)])))
    assert not is_same(own, (Seen.of([left(1.0, 2.5, 3.0)]), Seen.of([left(1.0, 5.0, 3.0)])))
    assert not is_same(own, own[:1])


def test_nan_everywhere_tells_nothing() -> None:
    assert not Seen.of([left(np.nan, np.nan, np.inf)]).tells()
    assert Seen.of([left(np.nan, 0.0, np.nan)]).tells()
