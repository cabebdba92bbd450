"""PyTorch and derived update rules: a function called with the inputs of each case, in its own process."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any, Literal

import numpy as np

from flashpath.course.content.exercise import Exercise, Mutant
from flashpath.course.grader import forbidden, misconceptions
from flashpath.course.grader.cases import Case, cases_of, telling_cases
from flashpath.course.grader.describe import with_printed
from flashpath.course.grader.dtypes import Array
from flashpath.course.grader.failing import failure_of
from flashpath.course.grader.misconceptions import Left, Seen
from flashpath.course.grader.reference import expected_outputs, output_names
from flashpath.course.grader.returned import judge_value
from flashpath.course.grader.verdict import Failure, Hint, Judged
from flashpath.course.sandbox import FunctionSession, Limits, SandboxError
from flashpath.messages import told

_EVIDENCE = misconceptions.Kept()
_LIMITS = Limits(build_seconds=30.0, run_seconds=10.0)


def judge(exercise: Exercise, source: str, file: Path, seed: int) -> Judged:
    """Call the function with every case and compare what it returns."""
    refused = forbidden.check(source, exercise.forbidden)
    if refused is not None:
        return Judged(refused, hint=misconceptions.of_text(exercise, refused, source))
    cases = cases_of(exercise, seed)
    case: Case | None = None
    right = 0
    try:
        with _session(exercise, source, file.name) as session:
            for case in cases:
                before = len(session.printed)
                failure = _judge_values(exercise, case, _called(session, exercise, case))
                if failure is not None:
                    failure = with_printed(failure, session.printed[before:])
                    hint = _misconception(session, exercise, source, failure)
                    return Judged(failure, cases=right, hint=hint)
                right += 1
    except SandboxError as error:
        failure = with_printed(failure_of(error, case), error.printed)
        hint = misconceptions.of_text(exercise, failure, source)
        return Judged(failure, cases=right, hint=hint)
    return Judged(None, cases=right)


def _misconception(
    session: FunctionSession, exercise: Exercise, source: str, failure: Failure
) -> Hint | None:
    """The mutant that returns what this function does, in all of a few cases that are always the same."""
    exact = misconceptions.of_text(exercise, failure, source)
    if exact or not misconceptions.candidates(exercise, failure.reason, source):
        return exact
    own, of = _evidence(session, exercise), functools.partial(evidence_of, exercise)
    try:
        return misconceptions.of_case(exercise, failure, own, source, of)
    except SandboxError:  # it fails in another way there
        return None


def evidence_of(exercise: Exercise, mutant: Mutant) -> misconceptions.Evidence:
    """What a mutant returns in the cases that tell mutants apart."""

    def made() -> misconceptions.Evidence:
        name = exercise.solution.name if exercise.solution is not None else "mutant.py"
        with _session(exercise, mutant.source, name) as session:
            return tuple(_evidence(session, exercise))

    return _EVIDENCE.of(exercise, mutant, made)


def _evidence(session: FunctionSession, exercise: Exercise) -> Iterator[Seen]:
    """What the function returns in each of these cases."""
    for case in telling_cases(exercise):
        truths = expected_outputs(exercise, case)
        returned = zip_longest(_called(session, exercise, case), truths)
        yield Seen.of(Left(value, truth) for value, truth in returned if value is not None)


def _session(exercise: Exercise, source: str, file_name: str) -> FunctionSession:
    assert exercise.function is not None, f"{exercise.id} has no function"
    arrays: Literal["torch", "numpy"] = "torch" if exercise.language == "pytorch" else "numpy"
    return FunctionSession(source, file_name, exercise.function, exercise.imports, arrays, _LIMITS)


def _called(session: FunctionSession, exercise: Exercise, case: Case) -> list[Array]:
    arguments = tuple(_argument(case, name) for name in exercise.arguments)
    return [np.asarray(each) for each in session.call(arguments)]


def _argument(case: Case, name: str) -> Any:
    if name in case.inputs:
        return case.inputs[name].copy()
    if name in case.scalars:
        return case.scalars[name].item()
    return case.sizes[name]


def _judge_values(exercise: Exercise, case: Case, arrays: Sequence[Array]) -> Failure | None:
    names = output_names(exercise)
    if len(arrays) != len(names):
        headline = told("course.grader.wrong-count", got=len(arrays), expected=len(names), names=list(names))
        return Failure("wrong", headline)
    for truth, got in zip(expected_outputs(exercise, case), arrays, strict=True):
        failure = judge_value(case, truth, got)
        if failure is not None:
            return failure
    return None
