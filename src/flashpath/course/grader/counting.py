"""Counts that an exercise asks for and that have no value: its own mistake, never called the learner's."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from flashpath.course.expressions import ExpressionError, evaluate
from flashpath.course.grader.verdict import CountFailed
from flashpath.course.sandbox import Crashed, KernelRun, SandboxError, TimedOut
from flashpath.messages import Message

_ALWAYS = "1"  # a count that has a value whatever the launch


def counted_launch(
    exercise: str,
    counts: Sequence[str],
    names: Mapping[str, int],
    launch: Callable[[tuple[str, ...]], KernelRun],
) -> KernelRun:
    """`launch` with these counts; where one of them is what fails, not the kernel, CountFailed says which."""
    try:
        result = launch(tuple(counts))
    except TimedOut:
        raise
    except SandboxError:
        launch((_ALWAYS,))  # raises the same where it is the kernel
        for each in counts:
            try:
                launch((each,))
            except SandboxError as error:
                raise CountFailed(exercise, each, _why(error)) from None
        raise
    check_counts(exercise, result.counts, names)
    return result


def check_counts(
    exercise: str, counts: Mapping[str, float], names: Mapping[str, int], *, is_program: bool = False
) -> None:
    """Raise CountFailed where one has no value, and could have none whatever the answer."""
    for expression, value in counts.items():
        why = _why_nothing(expression, names, is_program) if math.isnan(value) else None
        if why is not None:
            raise CountFailed(exercise, expression, why)


def _why(error: SandboxError) -> str | Message:
    """What Python said of an expression, without what the sandbox takes it for."""
    defect = error.how.params.get("defect") if isinstance(error, Crashed) else None
    return error.said if defect is None else str(defect)


def _why_nothing(expression: str, names: Mapping[str, int], is_program: bool) -> str | Message | None:
    """Why it has no value for any launch; None where it may have one, such as a share of loads: a kernel that
    loads nothing has none."""
    from flashpath.vgpu.program_report import ProgramReport
    from flashpath.vgpu.report import Report

    report = ProgramReport() if is_program else Report()
    try:
        value = evaluate(expression, {**names, "report": report})
        float(value)
    except ExpressionError as error:
        return None if error.code == "course.expression-zero" and "report" in expression else error.said
    except (TypeError, ValueError, OverflowError) as error:
        return str(error)
    return None
