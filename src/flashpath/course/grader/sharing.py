"""Whether the threads of a CUDA kernel share the work: not all of it done by every thread, nor by one.

It is counted in one launch of few blocks. Where every thread does all the work, about as many bytes are
asked for as there are bytes, times the threads; where one thread does, a request is one lane's. Both are told
as what they are, whatever they lead to in a larger case: a launch that does not end, or missed goals.
"""

from __future__ import annotations

import math

from flashpath.course.content.exercise import Exercise
from flashpath.course.grader.cases import Case, telling_cases
from flashpath.course.grader.launching import launch_shape
from flashpath.course.grader.trial import Trial, prepare
from flashpath.course.grader.verdict import Failure
from flashpath.course.sandbox import SandboxError
from flashpath.messages import Message, told

_MOST_ELEMENTS = 20_000
_SHARE_OF_THREADS = 0.6  # some threads of a block may have no element, and do nothing
_FEWEST_LANES = 4.0  # a few threads may share what one would do

_ASKED = "(report.global_load.bytes + report.global_store.bytes)"
# Lanes are counted, not the bytes that they ask for: one lane may move 1 byte, or 16.
_ACCESSES = " + ".join(
    f"report.instructions_by_class.get('{name}', 0)"
    for name in ("global load", "global store", "generic load", "generic store", "asynchronous copy")
)
_LANES = f"({_ACCESSES}) / max(report.global_load.requests + report.global_store.requests, 1)"
_TIMES = f"{_ASKED} / max(report.dram_bytes, 1)"


def not_shared(trial: Trial) -> Failure | None:
    """Returns that every thread does all the work, or one thread does; None where threads share it."""
    case = _case(trial.exercise)
    if case is None:
        return None
    try:
        counts = trial.judge(prepare(trial.exercise, case), (_TIMES, _LANES)).counts
    except SandboxError:  # it does not end even there
        return None
    threads = _threads(trial.exercise, case)
    times, lanes = counts.get(_TIMES, math.nan), counts.get(_LANES, math.nan)
    if times >= _SHARE_OF_THREADS * threads:
        shown = told("course.grader.asked-times", times=f"{times:.0f}", threads=threads, case=case.said)
        return _failure(told("course.grader.every-thread"), shown, told("course.grader.share-every-thread"))
    if lanes <= _FEWEST_LANES:
        shown = told("course.grader.lanes-of-a-request", lanes=f"{lanes:.2g}", case=case.said)
        return _failure(told("course.grader.one-thread"), shown, told("course.grader.share-one-thread"))
    return None


def _failure(headline: Message, shown: Message, advice: Message) -> Failure:
    return Failure("goal", headline, (shown, told("course.grader.goal-advice", advice=advice)))


def _case(exercise: Exercise) -> Case | None:
    """Returns the case with the fewest threads, all at work, and of these the one with the most elements."""
    if exercise.language != "cuda":
        return None
    every = telling_cases(exercise, every=True)
    fitting = [case for case in every if 0 < _threads(exercise, case) <= case.elements <= _MOST_ELEMENTS]
    return min(fitting, key=lambda case: (_threads(exercise, case), -case.elements), default=None)


def _threads(exercise: Exercise, case: Case) -> int:
    assert exercise.launch is not None
    launched = launch_shape(exercise.launch, case.sizes)
    return math.prod(launched.grid) * math.prod(launched.block)
