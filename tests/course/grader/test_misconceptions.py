"""The hint of a mistake comes in whatever words the mistake is written, and no other's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from flashpath.course.content import load_course
from flashpath.course.grader import grade
from flashpath.course.grader.misconceptions import Evidence, Left

RESCALED = "total = total * tl.exp(m - larger) + tl.sum(tl.exp(x - larger), 0)"


@pytest.mark.parametrize(
    ("instead", "mutant"),
    [
        ("total += tl.sum(tl.exp(x - larger), 0)", "not-rescaled"),
        ("total = tl.sum(tl.exp2((x - larger) * 1.4426950408889634), 0) + total", "not-rescaled"),
        ("total = total / tl.exp(m - larger) + tl.sum(tl.exp(x - larger), 0)", "factor-upside-down"),
    ],
    ids=["added", "in powers of two", "divided"],
)
def test_a_mistake_in_other_words(instead: str, mutant: str, tmp_path: Path) -> None:
    exercise = load_course().exercise("triton-softmax/online-softmax")
    source = exercise.solution_text()
    assert source.count(RESCALED) == 1
    file = tmp_path / "mine.py"
    file.write_text(source.replace(RESCALED, instead), encoding="utf-8")
    result = grade(exercise, file, seed=1)
    assert (result.reason, result.mutant) == ("wrong", mutant), str(result)


TRUTH = np.array([1.0, 2.0, 3.0])


def evidence(*values: float, larger: Evidence | None = None) -> Evidence:
    return Evidence((), (Left(np.array(values, np.float32), TRUTH),), larger)


def test_results_that_differ_by_rounding_are_near_and_equal_ones_nearer() -> None:
    own = evidence(1.0, 2.5, 3.0)
    assert own.likeness(evidence(1.0, 2.5, 3.0)) == own.best_likeness
    assert 0 < own.likeness(evidence(1.0, 2.5001, 3.0)) < own.best_likeness
    assert own.likeness(evidence(1.0, 2.6, 3.0)) == 0
    assert own.likeness(evidence(1.0, 2.5, 3.1)) == 0
    assert evidence(1.0, np.nan, 3.5).likeness(evidence(1.0, np.nan, 3.5001)) > 0
    assert evidence(1.0, np.nan, 3.5).likeness(evidence(1.0, 2.0, 3.5)) == 0


def test_errors_as_small_as_rounding_tell_nothing_unless_they_are_the_same() -> None:
    own = evidence(1.0, 2.000001, 3.0)
    assert own.likeness(evidence(1.0, 2.000002, 3.0)) == 0
    assert own.likeness(evidence(1.0, 2.000001, 3.0)) == own.best_likeness


def test_the_larger_case_must_agree_too() -> None:
    own = evidence(1.0, 2.5, 3.0, larger=evidence(1.0, 4.0, 3.0))
    assert own.likeness(evidence(1.0, 2.5001, 3.0, larger=evidence(1.0, 4.0001, 3.0))) > 0
    assert own.likeness(evidence(1.0, 2.5, 3.0, larger=evidence(1.0, 5.0, 3.0))) == 0
    assert own.likeness(evidence(1.0, 2.5, 3.0)) == 0
