"""What is said of a whole program that is not right: what was found, how it ended, what it did not print."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace

from flashpath.course.grader.compare import Expected
from flashpath.course.grader.describe import found, said_of_kind, with_printed
from flashpath.course.grader.printing import Unread
from flashpath.course.grader.verdict import Failure, Line
from flashpath.messages import Message, told
from flashpath.vgpu.findings import Finding
from flashpath.vgpu.host_findings import HostFinding, Stack


def found_in_program(findings: Sequence[Finding | HostFinding], source: str, case: Message) -> Failure:
    """The first finding, of a kernel or of host code; the others by their kinds."""
    first = findings[0]
    others = list(dict.fromkeys(each.kind for each in findings[1:]))
    if isinstance(first, Finding):
        failure = found([first], source, case)
        *details, explained = failure.details
    else:
        headline = told("course.grader.finding", kind=first.kind, summary=said_of_kind(first.kind), case=case)
        failure = Failure(first.kind, headline)
        details = _of_host(first, source)
        explained = told("course.grader.explain-finding", kind=first.kind)
    if others:
        details.append(told("course.grader.more-findings", count=len(findings) - 1, kinds=others))
    return replace(failure, details=(*details, explained))


def _of_host(first: HostFinding, source: str) -> list[Line]:
    details: list[Line] = [first.said, *_at(first.stack, source)]
    if first.other is not None:
        details.append(told("course.grader.host-party", what=first.other.what))
        details += _at(first.other.stack, source)
    if first.count > 1:
        details.append(told("course.grader.met", count=first.count))
    return details


def _at(stack: Stack, source: str) -> list[Line]:
    """The line where it is, and those of its callers."""
    lines = source.splitlines()
    shown: list[Line] = []
    for frame in stack:
        text = lines[frame.line - 1].strip() if frame.line <= len(lines) else ""
        file = frame.file.rsplit("/", 1)[-1]
        shown.append(told("course.grader.at-line", file=file, line=frame.line, text=text))
    return shown


def died(signal: str, case: Message) -> Failure:
    """A signal ended the program."""
    return Failure("crashed", told("course.grader.program-died", signal=signal, case=case))


def other_exit_code(got: int | None, expected: int, case: Message) -> Failure:
    """The program says that all went well where it did not, or the other way round."""
    if expected == 0:
        return Failure("exit-code", told("course.grader.program-gave-up", got=got, case=case))
    if got == 0:
        return Failure("exit-code", told("course.grader.program-went-on", expected=expected, case=case))
    return Failure(
        "exit-code", told("course.grader.program-other-code", got=got, expected=expected, case=case)
    )


def unread(why: Unread, expected: Expected, case: Message) -> Failure:
    """A value was not printed, or cannot be read."""
    name, count = expected.name, expected.value.size
    if why.why == "missing":
        return Failure("not-printed", told("course.grader.not-printed", name=name, case=case))
    if why.why == "count":
        counts = {"got": why.count, "expected": count}
        return Failure("wrong", told("course.grader.printed-other-count", name=name, **counts, case=case))
    return Failure("wrong", told("course.grader.printed-no-number", name=name, text=why.text, case=case))


def with_output(failure: Failure, printed: str, complained: str) -> Failure:
    """With the first lines of what it printed: standard error first, where the runtime gives its reasons."""
    return with_printed(failure, f"{complained}\n{printed}")


def same_run(
    failure: Failure, file: str, arguments: Sequence[str], options: Sequence[str], *, is_finding: bool
) -> Failure:
    """With the command that shows the same."""
    command = "flashpath sanitize" if is_finding else "flashpath run"
    line = told(
        "course.grader.same-run", command=f"{command} {shlex.join([file, *options, '--', *arguments])}"
    )
    return replace(failure, details=(*failure.details, line))
