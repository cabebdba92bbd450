"""What went wrong, in lines for the learner: where it differs, at which line of theirs, who did it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from flashpath.course.grader.cases import Case
from flashpath.course.grader.compare import Difference
from flashpath.course.grader.dtypes import Array, bits_of
from flashpath.course.grader.pictures import pattern, picture
from flashpath.course.grader.verdict import Failure, Line
from flashpath.course.sandbox.folders import PREFIX
from flashpath.messages import LANGUAGES, Message, Text, told
from flashpath.vgpu.explanations import explain_finding
from flashpath.vgpu.findings import Finding, by_cause

_DIGITS = 9  # float32 has no more
_PRINTED_LINES = 10
_SANDBOX = re.compile(rf"\S*/{PREFIX}[^/\s]+/")


def number(value: Any) -> str:
    """A number as a learner reads it."""
    kind = np.asarray(value).dtype.kind
    if kind == "b":
        return str(bool(value)).lower()
    return str(int(value)) if kind in "iu" else f"{float(value):.{_DIGITS}g}"


def index_of(index: tuple[int, ...]) -> str:
    return f"[{', '.join(map(str, index))}]" if index else ""


# ---- Results -------------------------------------------------------------------------------------------


def wrong_output(difference: Difference, case: Case) -> Failure:
    """An output that is not what is expected, or was not written."""
    said = case.said
    if not difference.shape:  # a single number that a function returned
        got, expected = number(difference.got), number(difference.expected)
        return Failure(
            "wrong",
            told("course.grader.wrong-one", name=difference.name, got=got, expected=expected, case=said),
        )
    size = difference.wrong.size
    if difference.reason == "unwritten":
        shown = difference.unwritten
        count = int(shown.sum())
        headline = told("course.grader.unwritten", count=count, n=size, name=difference.name, case=said)
        details: list[Line] = [_first_unwritten(difference)]
        if difference.count > count:
            details.append(told("course.grader.also-wrong", count=difference.count - count))
    else:
        shown = difference.wrong
        headline = told(
            "course.grader.wrong", count=difference.count, n=size, name=difference.name, case=said
        )
        details = _first_wrong(difference)
    return Failure(difference.reason, headline, (*details, *_where(shown)))


def _first_wrong(difference: Difference) -> list[Line]:
    expected, got = number(difference.expected), number(difference.got)
    if expected == got:  # they differ in digits that are not shown, or in bits that are no digits
        expected, got = repr(float(difference.expected)), repr(float(difference.got))
    if expected == got:
        expected, got = (
            f"0x{int(bits_of(np.asarray(x)).flat[0]):x}" for x in (difference.expected, difference.got)
        )
    line = told(
        "course.grader.first-difference",
        name=difference.name,
        index=index_of(difference.index),
        expected=expected,
        got=got,
    )
    if difference.allowed is None:
        return [line]
    error = abs(float(difference.got) - float(difference.expected))
    if not np.isfinite(error):
        return [line]
    return [line, told("course.grader.allowed", error=f"{error:.2g}", allowed=f"{difference.allowed:.2g}")]


def _first_unwritten(difference: Difference) -> Message:
    at = np.unravel_index(int(np.argmax(difference.unwritten)), difference.shape)
    index = tuple(int(each) for each in at)
    expected = number(difference.expected_at(index))
    return told(
        "course.grader.first-unwritten", name=difference.name, index=index_of(index), expected=expected
    )


def _where(shown: Array) -> list[Line]:
    named = pattern(shown) if shown.size > 1 else None
    return [*([told("course.grader.pattern", pattern=named)] if named else []), *picture(shown)]


def changed_input(name: str, before: Array, after: Array, case: Case) -> Failure | None:
    """An input that is not, bit by bit, what it was."""
    changed = (bits_of(before) != bits_of(after)).reshape(before.shape)
    if not changed.any():
        return None
    at = np.unravel_index(int(np.argmax(changed)), changed.shape)
    index = tuple(int(each) for each in at)
    first = told(
        "course.grader.first-changed",
        name=name,
        index=index_of(index),
        before=number(before[index]),
        after=number(after[index]),
    )
    headline = told("course.grader.input-changed", name=name, case=case.said)
    return Failure("input-changed", headline, (first, *_where(changed)))


def with_printed(failure: Failure, printed: str) -> Failure:
    """With the first lines of what the answer printed while it failed: how many people look for a mistake."""
    # A warning names the sandbox's copy of the file: only the name says something to its author.
    lines = [_SANDBOX.sub("", line) for line in printed.splitlines() if line.strip()]
    if not lines:
        return failure
    shown = [f"  {line}" for line in lines[:_PRINTED_LINES]]
    more = ["  …"] if len(lines) > _PRINTED_LINES else []
    return replace(failure, details=(*failure.details, told("course.grader.printed"), *shown, *more))


# ---- Findings ------------------------------------------------------------------------------------------


def found(findings: Sequence[Finding], source: str, case: Message) -> Failure:
    """The first finding with its line, block and thread; the others by their kinds."""
    findings = by_cause(findings)
    first = findings[0]
    code = "course.grader.timeout-finding" if first.kind == "timeout" else "course.grader.finding"
    headline = told(code, kind=first.kind, summary=said_of_kind(first.kind), case=case)
    details: list[Line] = [first.said, *_at(first, source)]
    if first.other is not None:
        who = _who(first.other.block, first.other.thread)
        if first.other.line:
            details.append(told("course.grader.other-party-at", line=first.other.line, who=who))
        else:
            details.append(told("course.grader.other-party", who=who))
    if first.count > 1:
        details.append(told("course.grader.met", count=first.count))
    if len(findings) > 1:
        kinds = list(dict.fromkeys(finding.kind for finding in findings[1:]))
        details.append(told("course.grader.more-findings", count=len(findings) - 1, kinds=kinds))
    details.append(told("course.grader.explain-finding", kind=first.kind))
    return Failure(first.kind, headline, tuple(details))


def said_of_kind(kind: str) -> Text:
    """Returns what is wrong where there is a finding of this kind, in a few words."""
    return Text(*(explain_finding(kind, lang).summary.rstrip("。.") for lang in LANGUAGES))


def _at(finding: Finding, source: str) -> list[Message]:
    who = told("course.grader.at-thread", who=_who(finding.block, finding.thread))
    if not finding.line:
        return [who]
    lines = source.splitlines()
    text = lines[finding.line - 1].strip() if finding.line <= len(lines) else ""
    file = finding.file.replace("\\", "/").rsplit("/", 1)[-1]
    return [told("course.grader.at-line", file=file, line=finding.line, text=text), who]


def _who(block: Sequence[int], thread: Sequence[int]) -> Message:
    return told("course.grader.who", block=_point(block), thread=_point(thread))


def _point(extent: Sequence[int]) -> str:
    return f"({', '.join(map(str, extent))})"
