"""Wrong answers as learners give them: all are rejected, and the hint of each is the right one, or none."""

from __future__ import annotations

import functools
import itertools
from pathlib import Path

import pytest

from flashpath.course.content import Course, Exercise, Mutant, load_course
from flashpath.course.grader import Grade, function, grade, kernel, misconceptions, program
from flashpath.course.grader.launching import LIMITS
from flashpath.course.grader.misconceptions import Seen, candidates, is_same
from tests.harness.compilers import missing_compilers
from tests.harness.corpus import ANSWERS, EXERCISES

NONE = "-"
HEADLINES = {"!every-thread": "course.grader.every-thread", "!one-thread": "course.grader.one-thread"}


@pytest.fixture(autouse=True)
def with_time_for_hints(monkeypatch: pytest.MonkeyPatch) -> None:
    """A learner does not wait long for a hint; here every hint that may come has to be right."""
    monkeypatch.setattr(kernel, "HINT_LIMITS", LIMITS)
    monkeypatch.setattr(program, "HINT_LIMITS", program.LIMITS)
    monkeypatch.setattr(misconceptions, "SECONDS", 60.0)


@functools.cache
def _course() -> Course:
    return load_course()


def _graded(exercise: Exercise, text: str, folder: Path) -> Grade:
    assert exercise.solution is not None
    file = folder / exercise.solution.name
    file.write_text(text, encoding="utf-8")
    return grade(exercise, file, seed=1)


def test_the_corpus_is_large_and_covers_every_exercise_that_is_run() -> None:
    assert len(ANSWERS) >= 300
    ready = [_course().unit(name) for name in _course().unit_ids]
    every = [_course().exercise(name) for unit in ready if unit.is_ready for name in unit.exercise_ids]
    assert set(EXERCISES) == {each.id for each in every if each.solution is not None}


@pytest.mark.parametrize("name", EXERCISES)
def test_no_hint_is_wrong(name: str, tmp_path: Path) -> None:
    exercise = _course().exercise(name)
    if exercise.program is not None and (missing := missing_compilers()):
        pytest.skip(missing)
    _tell_mutants_apart(exercise)
    known = {mutant.name for mutant in exercise.mutants} | {NONE, *HEADLINES}
    mistakes: list[str] = []
    hinted = expected = 0
    for answer in (each for each in ANSWERS if each.exercise == name):
        assert answer.hint in known, f"{answer}: there is no such mutant"
        result = _graded(exercise, answer.text(exercise.solution_text()), tmp_path)
        wanted = answer.hint if answer.hint in {mutant.name for mutant in exercise.mutants} else None
        expected += wanted is not None
        hinted += wanted is not None and result.mutant == wanted
        if result.passed:
            mistakes.append(f"passes: {answer}")
        elif result.mutant not in (None, wanted):
            mistakes.append(f"{answer} is told of {result.mutant}: {result.headline}")
        elif answer.hint in HEADLINES and result.summary.code != HEADLINES[answer.hint]:
            mistakes.append(f"{answer}: {result.summary.code}, {result.headline}")
    assert not mistakes, "\n".join(mistakes)
    assert 2 * hinted >= expected, f"hints for {hinted} of {expected} mistakes that have one"


def _tell_mutants_apart(exercise: Exercise) -> None:
    """Asserts that something tells apart every two mutants that are rejected for one reason."""
    for own, other in itertools.permutations(exercise.mutants, 2):
        reason = own.rejected_for
        if reason in ("compile", "refused", "timeout", "launch"):  # known by their texts alone
            continue
        may_be = candidates(exercise, reason, own.source)
        assert own in may_be, f"{exercise.id}: {own.name} has not its own words"
        if own.hint != other.hint and other in may_be:
            assert not _alike(exercise, own, other), (
                f"{exercise.id}: {own.name} does just what {other.name} does"
            )


def _alike(exercise: Exercise, own: Mutant, other: Mutant) -> bool:
    judge = program if exercise.program is not None else kernel
    if own.rejected_for == "goal":
        return judge.profile_of(exercise, own) == judge.profile_of(exercise, other)
    runs = exercise.launch is not None or exercise.program is not None
    of = judge.evidence_of if runs else function.evidence_of
    evidence = of(exercise, own)
    return any(map(Seen.tells, evidence)) and is_same(evidence, of(exercise, other))
