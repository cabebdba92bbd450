"""How the sandbox's errors read as failures: no word of the engine's own insides."""

from __future__ import annotations

from flashpath.course.grader.cases import Case
from flashpath.course.grader.verdict import Advice, Failure
from flashpath.course.sandbox import BuildFailed, Crashed, Raised, Refused, SandboxError, TimedOut
from flashpath.messages import Message, told


def failure_of(error: SandboxError, case: Case | None = None, *, is_built: bool = False) -> Failure:
    """What building an answer ended with, or, where it is built, running it."""
    said, advice = error.said, Advice(error.said)
    match error:
        case TimedOut():
            return Failure("timeout", _timeout(error))
        case BuildFailed() if is_built:
            return Failure("launch", told("course.grader.launch"), (said, advice))
        case BuildFailed():
            return Failure("compile", told("course.grader.compile"), (said, advice))
        case Raised() if case is not None:
            no_value = _no_value(error.reported, case)
            if no_value is not None:
                return Failure("wrong", no_value)
            return Failure("crashed", told("course.grader.raised", case=case.said), (said, advice))
        case Refused():
            return Failure("refused", told("course.grader.refused", problem=said), (advice,))
        case Crashed():
            return Failure("crashed", told("course.grader.crashed", problem=error.how), (*error.last, advice))
        case _:
            return Failure("crashed", told("course.grader.crashed", problem=said), (advice,))


def _timeout(error: TimedOut) -> Message:
    if error.at_import:
        return told("course.grader.timeout-import", seconds=error.seconds)
    if error.at_build:
        return told("course.grader.timeout-compile", seconds=error.seconds)
    return told("course.grader.timeout", seconds=error.seconds)


def _no_value(reported: Message, case: Case) -> Message | None:
    """Returns what is said of a value that the function's process cannot send; None most often is a forgotten
    return."""
    if reported.code == "course.sandbox.returned-too-many":
        return told("course.grader.too-many-values", case=case.said)
    if reported.code != "course.sandbox.returned-no-numbers":
        return None
    place, kind = reported.params["place"], reported.params["kind"]
    if kind == "NoneType":
        return told("course.grader.nothing-returned", place=place, case=case.said)
    return told("course.grader.no-numbers", place=place, kind=kind, case=case.said)
