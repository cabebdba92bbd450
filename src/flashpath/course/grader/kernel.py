"""CUDA C++ and Triton kernels: launched by the grader on the virtual GPU, case by case."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from flashpath.course.content.exercise import Exercise, Launch, Mutant
from flashpath.course.grader import forbidden, goals, misconceptions, sharing, speed
from flashpath.course.grader.cases import cases_of, telling_cases
from flashpath.course.grader.failing import failure_of
from flashpath.course.grader.launching import HINT_LIMITS, session_for
from flashpath.course.grader.trial import Prepared, Trial, prepare
from flashpath.course.grader.verdict import Failure, GoalResult, Hint, Judged
from flashpath.course.sandbox import SandboxError

_Result = TypeVar("_Result")
_EVIDENCE, _PROFILES = misconceptions.Kept(), misconceptions.Kept()


def judge(exercise: Exercise, source: str, file: Path, seed: int) -> Judged:
    """Build the kernel, launch it with every case, then count what its goals ask for."""
    launch = _launch_of(exercise)
    refused = forbidden.check(source, exercise.forbidden)
    if refused is not None:
        return Judged(refused, hint=misconceptions.of_text(exercise, refused, source))
    is_built = False
    try:
        with session_for(exercise, launch, source, file.name) as session:
            is_built = True
            return _judge(Trial(session, exercise, launch, source), seed)
    except SandboxError as error:
        failure = failure_of(error, is_built=is_built)
        return Judged(failure, hint=misconceptions.of_text(exercise, failure, source))


def _launch_of(exercise: Exercise) -> Launch:
    assert exercise.launch is not None, f"{exercise.id} has no launch"
    return exercise.launch


def _judge(trial: Trial, seed: int) -> Judged:
    exercise = trial.exercise
    cases = cases_of(exercise, seed)
    for right, case in enumerate(cases):
        failure = trial.judge(prepare(exercise, case)).failure
        if failure is not None:
            unshared = sharing.not_shared(trial) if failure.reason in ("timeout", "race") else None
            hint = None if unshared else _misconception(trial, failure)
            return Judged(unshared or failure, cases=right, hint=hint)
    unshared = sharing.not_shared(trial)
    counted = goals.counted(trial, seed)
    if counted.failure is not None:
        return Judged(unshared or counted.failure, cases=len(cases))
    results = goals.results(exercise, counted.counts)
    if unshared or not all(each.reached for each in results):
        failure = unshared or goals.missed(exercise, counted.counts)
        return Judged(failure, cases=len(cases), goals=results, hint=_missed(trial, failure, counted.profile))
    measured, failure = speed.measure(exercise, trial.source, seed)
    every: tuple[GoalResult, ...] = (*results, *measured)
    lines = tuple(goal.line for goal in every)
    return Judged(failure, cases=len(cases), goals=every, lines=lines)


def _misconception(trial: Trial, failure: Failure) -> Hint | None:
    """The mutant that does what this kernel does, on cases that are always the same."""
    exercise = trial.exercise
    exact = misconceptions.of_text(exercise, failure, trial.source)
    known = misconceptions.candidates(exercise, failure.reason, trial.source)
    if exact or failure.reason == "timeout" or not known:
        return exact
    trial.session.limits = HINT_LIMITS
    own, of = trial.evidence(_telling(exercise)), functools.partial(evidence_of, exercise)
    try:
        return misconceptions.of_case(exercise, failure, own, trial.source, of)
    except SandboxError:  # it fails in another way there, or takes too long for a hint
        return None


def _missed(trial: Trial, failure: Failure, profile: misconceptions.Profile) -> Hint | None:
    """The mutant that misses the goals with the same accesses."""
    exact = misconceptions.of_text(trial.exercise, failure, trial.source)
    of = functools.partial(profile_of, trial.exercise)
    return exact or misconceptions.of_goals(trial.exercise, profile, trial.source, of)


def evidence_of(exercise: Exercise, mutant: Mutant) -> misconceptions.Evidence:
    """What a mutant leaves behind in the cases that tell mutants apart."""
    return _EVIDENCE.of(
        exercise,
        mutant,
        lambda: _measured(exercise, mutant, lambda trial: tuple(trial.evidence(_telling(exercise)))),
    )


def profile_of(exercise: Exercise, mutant: Mutant) -> misconceptions.Profile:
    """The accesses of a mutant in the launches of the goals."""
    return _PROFILES.of(
        exercise, mutant, lambda: _measured(exercise, mutant, lambda trial: goals.counted(trial, 0).profile)
    )


def _telling(exercise: Exercise) -> Iterator[Prepared]:
    return (prepare(exercise, case) for case in telling_cases(exercise))


def _measured(exercise: Exercise, mutant: Mutant, measure: Callable[[Trial], _Result]) -> _Result:
    """What is measured of a mutant in a session of its own, with little time for it."""
    launch = _launch_of(exercise)
    name = exercise.solution.name if exercise.solution is not None else "mutant"
    with session_for(exercise, launch, mutant.source, name, HINT_LIMITS) as session:
        return measure(Trial(session, exercise, launch, mutant.source))
