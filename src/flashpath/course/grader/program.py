"""Whole programs: built with nvcc, run on the virtual GPU with arguments that are drawn."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import numpy as np

from flashpath.course.content.exercise import Exercise, Mutant, Program
from flashpath.course.expressions import evaluate_integer
from flashpath.course.grader import forbidden, goals, misconceptions, printing
from flashpath.course.grader.cases import Case, cases_of, make_case, telling_cases
from flashpath.course.grader.compare import compare
from flashpath.course.grader.counting import check_counts
from flashpath.course.grader.describe import wrong_output
from flashpath.course.grader.failing import failure_of
from flashpath.course.grader.goals import Counted
from flashpath.course.grader.misconceptions import Left, Seen
from flashpath.course.grader.program_words import (
    died,
    found_in_program,
    other_exit_code,
    same_run,
    unread,
    with_output,
)
from flashpath.course.grader.reference import expected_outputs
from flashpath.course.grader.verdict import Advice, Failure, Hint, Judged
from flashpath.course.sandbox import Limits, ProgramRun, ProgramSession, SandboxError
from flashpath.course.sandbox.programs import need_compilers
from flashpath.errors import FlashpathError
from flashpath.messages import Message, told

_Result = TypeVar("_Result")
_EVIDENCE, _PROFILES = misconceptions.Kept(), misconceptions.Kept()
LIMITS = Limits(build_seconds=30.0, run_seconds=5.0, cpu_seconds=30.0)
# Of what runs only to find a hint: whoever waits for the grade waits for it too.
HINT_LIMITS = Limits(build_seconds=4.0, run_seconds=1.0, cpu_seconds=30.0)

# What tells one way to reach a result from another: what was copied, allocated, launched and accessed.
_PROFILE = (
    "report.launches",
    *(
        f"report.{way}.{what}"
        for way in ("to_device", "to_host", "within_device")
        for what in ("count", "bytes", "pinned")
    ),
    *(
        f"report.{memory}_memory.{what}"
        for memory in ("device", "pinned", "managed")
        for what in ("count", "bytes")
    ),
    *(
        f"report.global_{way}.{what}"
        for way in ("load", "store")
        for what in ("requests", "sectors", "bytes")
    ),
    *(
        f"report.{space}_{way}.requests"
        for space in ("shared", "local")
        for way in ("load", "store")
    ),
    "report.atomics.requests",
    "report.instructions_by_class.get('constant load', 0)",
    "report.seconds",
)  # fmt: skip


def judge(exercise: Exercise, source: str, file: Path, seed: int) -> Judged:
    """Build the program, run it with every case, then count what its goals ask for."""
    refused = forbidden.check(source, exercise.forbidden)
    if refused is not None:
        return Judged(refused, hint=misconceptions.of_text(exercise, refused, source))
    is_built = False
    try:
        need_compilers()
    except FlashpathError as error:
        installed = told("course.grader.not-installed")
        return Judged(Failure("not-installed", installed, (error.said, Advice(error.said))))
    try:
        with _session(exercise, source, file.name) as session:
            is_built = True
            return _judge(_Trial(session, exercise, source), seed)
    except SandboxError as error:
        failure = failure_of(error)
        if is_built:
            failure = with_output(failure, "", error.printed)
        return Judged(failure, hint=misconceptions.of_text(exercise, failure, source))


@dataclass(frozen=True)
class _Call(Case):
    """A case of a program, which is told by its arguments."""

    program: Program = field(default_factory=Program)

    @property
    def said(self) -> Message:
        given = {**self.sizes, **self.scalars}
        parts = [f"{name} = {_written(given[name])}" for name in self.program.arguments]
        parts += [f"GPU = {self.gpu}"] if self.has_own_gpu else []
        return told("course.grader.case", parts=parts)

    @property
    def arguments(self) -> tuple[str, ...]:
        given = {**self.sizes, **self.scalars}
        return tuple(_written(given[name]) for name in self.program.arguments)

    @property
    def gpu(self) -> str:
        return self.program.gpu_of(self.sizes)

    @property
    def has_own_gpu(self) -> bool:
        """Whether the program has to run on several GPUs, of which this case names one."""
        return len(self.program.gpus) > 1

    @property
    def exit_code(self) -> int:
        numbers = {name: value.item() for name, value in self.scalars.items()}
        return evaluate_integer(self.program.exit_code, {**self.sizes, **numbers})


def _written(value: object) -> str:
    """A number as a command line has it; a float32 with all its digits."""
    return f"{value:.9g}" if isinstance(value, np.floating) else str(value)


def _calls(exercise: Exercise, cases: list[Case]) -> list[_Call]:
    program = _program_of(exercise)
    return [_Call(**vars(case), program=program) for case in cases]


def _program_of(exercise: Exercise) -> Program:
    assert exercise.program is not None, f"{exercise.id} has no program"
    return exercise.program


def _session(exercise: Exercise, source: str, name: str, limits: Limits = LIMITS) -> ProgramSession:
    return ProgramSession(source, name, _program_of(exercise).gpus[0], limits)


@dataclass(frozen=True)
class _Trial:
    """A program that is built, to be run with cases."""

    session: ProgramSession
    exercise: Exercise
    source: str

    def judge(self, call: _Call, counts: tuple[str, ...] = ()) -> tuple[Failure | None, ProgramRun]:
        """Run it, and look at everything: findings first, then how it ended, then what it printed.

        A run that is counted is not sanitised: it is large, and the program has passed all cases.
        """
        run = self.session.run(
            call.arguments, counts, dict(call.sizes), gpu=call.gpu, sanitize=not counts, seed=call.schedule
        )
        failure = self._failure(call, run)
        if failure is None:
            return None, run
        failure = with_output(failure, run.printed, run.complained)
        options = ("--device", call.gpu) if call.has_own_gpu else ()
        is_finding = bool(run.findings)
        return same_run(failure, self.session.file_name, call.arguments, options, is_finding=is_finding), run

    def _failure(self, call: _Call, run: ProgramRun) -> Failure | None:
        if run.findings:
            return found_in_program(run.findings, self.source, call.said)
        if run.signal is not None:
            return died(run.signal, call.said)
        if run.exit_code != call.exit_code:
            return other_exit_code(run.exit_code, call.exit_code, call.said)
        if not run.has_ended:
            return Failure("crashed", told("course.grader.program-left", case=call.said))
        if call.exit_code != 0:
            return None
        for expected in expected_outputs(self.exercise, call):
            got = printing.value_of(run.printed, expected)
            if isinstance(got, printing.Unread):
                return unread(got, expected, call.said)
            difference = compare(expected, got)
            if difference is not None:
                return wrong_output(difference, call)
        return None

    def seen(self, call: _Call) -> Seen:
        """What it leaves behind: findings, what it printed, how it ended."""
        run = self.session.run(call.arguments, gpu=call.gpu)
        left: list[Left] = []
        if call.exit_code == 0:
            for expected in expected_outputs(self.exercise, call):
                got = printing.value_of(run.printed, expected)
                left += [] if isinstance(got, printing.Unread) else [Left(got, expected)]
        code = -1 if run.exit_code is None else run.exit_code
        return Seen.of([*left, Left(np.array([code]))], run.findings)

    def counted(self, seed: int) -> Counted:
        """What each goal counts, in a run of its sizes whose output is compared too."""
        exercise = self.exercise
        found: dict[int, float] = {}
        profile: list[float] = []
        for sizes in dict.fromkeys(tuple(goal.sizes.items()) for goal in exercise.goals):
            wanted = {
                place: goal.count
                for place, goal in enumerate(exercise.goals)
                if tuple(goal.sizes.items()) == sizes
            }
            case = make_case(exercise, dict(sizes), "normal", np.random.default_rng(seed))
            [call] = _calls(exercise, [case])
            failure, run = self.judge(call, tuple(dict.fromkeys((*wanted.values(), *_PROFILE))))
            if failure is not None:
                return Counted([], failure=failure)
            check_counts(exercise.id, run.counts, dict(sizes), is_program=True)
            found |= {place: run.counts[text] for place, text in wanted.items()}
            profile += [run.counts[text] for text in _PROFILE]
        return Counted([found[place] for place in range(len(exercise.goals))], tuple(profile))


def _judge(trial: _Trial, seed: int) -> Judged:
    exercise = trial.exercise
    calls = _calls(exercise, cases_of(exercise, seed))
    for right, call in enumerate(calls):
        failure, _ = trial.judge(call)
        if failure is not None:
            return Judged(failure, cases=right, hint=_misconception(trial, failure))
    counted = trial.counted(seed)
    if counted.failure is not None:
        return Judged(counted.failure, cases=len(calls))
    results = goals.results(exercise, counted.counts)
    if all(each.reached for each in results):
        absent = misconceptions.missing(exercise, trial.source)
        if absent is not None:
            hint = misconceptions.of_text(exercise, absent, trial.source)
            return Judged(absent, cases=len(calls), goals=results, hint=hint)
        lines = tuple(goal.line for goal in results)
        return Judged(None, cases=len(calls), goals=results, lines=lines)
    failure = goals.missed(exercise, counted.counts)
    of = functools.partial(profile_of, exercise)
    hint = misconceptions.of_text(exercise, failure, trial.source) or misconceptions.of_goals(
        exercise, counted.profile, trial.source, of
    )
    return Judged(failure, cases=len(calls), goals=results, hint=hint)


def _misconception(trial: _Trial, failure: Failure) -> Hint | None:
    """The mutant that does what this program does, in all of a few cases that are always the same."""
    exercise = trial.exercise
    exact = misconceptions.of_text(exercise, failure, trial.source)
    if exact or not misconceptions.candidates(exercise, failure.reason, trial.source):
        return exact
    trial.session.limits = HINT_LIMITS
    of = functools.partial(evidence_of, exercise)
    try:
        return misconceptions.of_case(exercise, failure, _evidence(trial), trial.source, of)
    except SandboxError:  # it fails in another way there, or takes too long for a hint
        return None


def _evidence(trial: _Trial) -> Iterator[Seen]:
    return map(trial.seen, _calls(trial.exercise, telling_cases(trial.exercise)))


def evidence_of(exercise: Exercise, mutant: Mutant) -> misconceptions.Evidence:
    """What a mutant leaves behind in the cases that tell mutants apart."""
    return _EVIDENCE.of(
        exercise, mutant, lambda: _measured(exercise, mutant, lambda trial: tuple(_evidence(trial)))
    )


def profile_of(exercise: Exercise, mutant: Mutant) -> misconceptions.Profile:
    """What a mutant copies, allocates and accesses in the runs of the goals."""
    return _PROFILES.of(
        exercise, mutant, lambda: _measured(exercise, mutant, lambda trial: trial.counted(0).profile)
    )


def counts_of(exercise: Exercise, mutant: Mutant, seed: int) -> Counted:
    """What each goal counts of a mutant."""
    return _measured(exercise, mutant, lambda trial: trial.counted(seed), LIMITS)


def _measured(
    exercise: Exercise, mutant: Mutant, measure: Callable[[_Trial], _Result], limits: Limits | None = None
) -> _Result:
    """What is measured of a mutant in a session of its own, with little time for it."""
    name = exercise.solution.name if exercise.solution is not None else "mutant.cu"
    with _session(exercise, mutant.source, name, limits or HINT_LIMITS) as session:
        return measure(_Trial(session, exercise, mutant.source))
