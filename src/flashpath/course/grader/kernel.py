"""CUDA C++ and Triton kernels: launched by the grader on the virtual GPU, case by case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from flashpath.course.content.exercise import Exercise, Launch, Mutant
from flashpath.course.grader import goals, misconceptions, speed
from flashpath.course.grader.cases import Case, cases_of
from flashpath.course.grader.failing import failure_of
from flashpath.course.grader.launching import HINT_LIMITS, session_for
from flashpath.course.grader.misconceptions import Evidence
from flashpath.course.grader.trial import Outcome, Trial, prepare
from flashpath.course.grader.verdict import GoalResult, Hint, Judged
from flashpath.course.sandbox import KernelSession, SandboxError

# Of a case that mutants are tried on, so that a hint comes soon.
_MOST_ELEMENTS = 20_000


def judge(exercise: Exercise, source: str, file: Path, seed: int) -> Judged:
    """Build the kernel, launch it with every case, then count what its goals ask for."""
    launch = _launch_of(exercise)
    is_built = False
    try:
        with session_for(exercise, launch, source, file.name) as session:
            is_built = True
            return _judge(session, exercise, launch, source, seed)
    except SandboxError as error:
        failure = failure_of(error, is_built=is_built)
        return Judged(failure, hint=misconceptions.of_broken(exercise, failure, source))


def _launch_of(exercise: Exercise) -> Launch:
    assert exercise.launch is not None, f"{exercise.id} has no launch"
    return exercise.launch


def _judge(session: KernelSession, exercise: Exercise, launch: Launch, source: str, seed: int) -> Judged:
    cases = cases_of(exercise, seed)
    trial = Trial(session, exercise, launch, source)
    for right, case in enumerate(cases):
        outcome = trial.judge(prepare(exercise, case))
        if outcome.failure is not None:
            hint = _misconception(trial, cases, case, outcome)
            return Judged(outcome.failure, cases=right, hint=hint)
    right = len(cases)
    counts, failure = goals.counted(trial, seed)
    if failure is not None:
        return Judged(failure, cases=right)
    results = goals.results(exercise, counts)
    if not all(each.reached for each in results):
        failure = goals.missed(exercise, counts)
        hint = misconceptions.of_goals(exercise, counts, source, _counts_again(exercise, launch, seed))
        return Judged(failure, cases=right, goals=results, hint=hint)
    measured, failure = speed.measure(exercise, source, seed)
    every: tuple[GoalResult, ...] = (*results, *measured)
    lines = tuple(goal.line for goal in every)
    return Judged(failure, cases=right, goals=every, lines=lines)


def _misconception(trial: Trial, cases: Sequence[Case], case: Case, outcome: Outcome) -> Hint | None:
    """What mutants are compared with: the case that failed, and a larger one."""
    exercise, failure = trial.exercise, outcome.failure
    if failure is None or not any(each.rejected_for == failure.reason for each in exercise.mutants):
        return None
    larger = [each for each in cases if case.elements < each.elements <= _MOST_ELEMENTS]
    prepared = [prepare(exercise, each) for each in (case, *larger[-1:])]

    def rerun(exercise: Exercise, mutant: Mutant) -> Evidence | None:
        with _hint_session(exercise, trial.launch, mutant) as session:
            return Trial(session, exercise, trial.launch, mutant.source).evidence(prepared)

    seen = outcome.evidence
    if seen is not None and failure.reason != "timeout":
        trial.session.limits = HINT_LIMITS
        try:
            seen = replace(seen, larger=trial.evidence(prepared[1:]))
        except SandboxError:  # it fails in another way there, or takes too long for a hint
            return None
    return misconceptions.of_case(exercise, failure, seen, trial.source, rerun)


def _counts_again(exercise: Exercise, launch: Launch, seed: int) -> misconceptions.Counts:
    def counts(mutant: Mutant) -> list[float]:
        with _hint_session(exercise, launch, mutant) as session:
            return goals.counted(Trial(session, exercise, launch, mutant.source), seed)[0]

    return counts


def _hint_session(exercise: Exercise, launch: Launch, mutant: Mutant) -> KernelSession:
    name = exercise.solution.name if exercise.solution is not None else "mutant"
    return session_for(exercise, launch, mutant.source, name, HINT_LIMITS)
