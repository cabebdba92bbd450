"""What went wrong, in lines for the learner: where it differs, at which line of theirs, who did it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from flashpath.course.grader.cases import Case
from flashpath.course.grader.compare import Difference
from flashpath.course.grader.dtypes import Array, bits_of
from flashpath.course.grader.pictures import pattern, picture
from flashpath.course.grader.texts import say
from flashpath.course.grader.verdict import Failure
from flashpath.vgpu.explanations import explain_finding
from flashpath.vgpu.findings import Finding

_DIGITS = 9  # float32 has no more
_PRINTED_LINES = 10


def number(value: Any) -> str:
    """A number as a learner reads it."""
    kind = np.asarray(value).dtype.kind
    if kind == "b":
        return str(bool(value)).lower()
    return str(int(value)) if kind in "iu" else f"{float(value):.{_DIGITS}g}"


def index_of(index: tuple[int, ...]) -> str:
    return f"[{', '.join(map(str, index))}]" if index else ""


# ---- Results -------------------------------------------------------------------------------------------


def wrong_output(difference: Difference, case: Case, lang: str) -> Failure:
    """An output that is not what is expected, or was not written."""
    said = case.said(lang)
    if not difference.shape:  # a single number that a function returned
        got, expected = number(difference.got), number(difference.expected)
        return Failure(
            "wrong", say(lang, "wrong-one", name=difference.name, got=got, expected=expected, case=said)
        )
    size = difference.wrong.size
    if difference.reason == "unwritten":
        shown = difference.unwritten
        count = int(shown.sum())
        headline = say(lang, "unwritten", count=count, n=size, name=difference.name, case=said)
        details = [_first_unwritten(difference, lang)]
        if difference.count > count:
            details.append(say(lang, "also-wrong", count=difference.count - count))
    else:
        shown = difference.wrong
        headline = say(lang, "wrong", count=difference.count, n=size, name=difference.name, case=said)
        details = _first_wrong(difference, lang)
    return Failure(difference.reason, headline, (*details, *_where(shown, lang)))


def _first_wrong(difference: Difference, lang: str) -> list[str]:
    line = say(
        lang,
        "first-difference",
        name=difference.name,
        index=index_of(difference.index),
        expected=number(difference.expected),
        got=number(difference.got),
    )
    if difference.allowed is None:
        return [line]
    error = abs(float(difference.got) - float(difference.expected))
    if not np.isfinite(error):
        return [line]
    return [line, "  " + say(lang, "allowed", error=f"{error:.2g}", allowed=f"{difference.allowed:.2g}")]


def _first_unwritten(difference: Difference, lang: str) -> str:
    at = np.unravel_index(int(np.argmax(difference.unwritten)), difference.shape)
    index = tuple(int(each) for each in at)
    expected = number(difference.expected_at(index))
    return say(lang, "first-unwritten", name=difference.name, index=index_of(index), expected=expected)


def _where(shown: Array, lang: str) -> list[str]:
    named = pattern(shown, lang) if shown.size > 1 else None
    return [*([say(lang, "pattern", pattern=named)] if named else []), *picture(shown, lang)]


def changed_input(name: str, before: Array, after: Array, case: Case, lang: str) -> Failure | None:
    """An input that is not, bit by bit, what it was."""
    changed = (bits_of(before) != bits_of(after)).reshape(before.shape)
    if not changed.any():
        return None
    at = np.unravel_index(int(np.argmax(changed)), changed.shape)
    index = tuple(int(each) for each in at)
    first = say(
        lang,
        "first-changed",
        name=name,
        index=index_of(index),
        before=number(before[index]),
        after=number(after[index]),
    )
    headline = say(lang, "input-changed", name=name, case=case.said(lang))
    return Failure("input-changed", headline, (first, *_where(changed, lang)))


def with_printed(failure: Failure, printed: str, lang: str) -> Failure:
    """With the first lines of what the answer printed while it failed: how many people look for a mistake."""
    lines = [line for line in printed.splitlines() if line.strip()]
    if not lines:
        return failure
    shown = [f"  {line}" for line in lines[:_PRINTED_LINES]]
    more = ["  …"] if len(lines) > _PRINTED_LINES else []
    return replace(failure, details=(*failure.details, say(lang, "printed"), *shown, *more))


# ---- Findings ------------------------------------------------------------------------------------------


# Where there are several kinds, the cause is told before what follows from it: a barrier that some threads
# miss lets others race.
_CAUSES_FIRST = (
    "deadlock", "timeout", "assert", "trap", "divergent-barrier", "bad-mask", "missing-wait", "misaligned",
    "out-of-bounds", "const-write", "race", "uninitialized", "leak",
)  # fmt: skip


def by_cause(findings: Iterable[Finding]) -> list[Finding]:
    """The findings, those of which others follow first."""
    last = len(_CAUSES_FIRST)
    rank = {kind: place for place, kind in enumerate(_CAUSES_FIRST)}
    return sorted(findings, key=lambda finding: rank.get(finding.kind, last))


def found(findings: Sequence[Finding], source: str, case: Case, lang: str) -> Failure:
    """The first finding with its line, block and thread; the others by their kinds."""
    findings = by_cause(findings)
    first = findings[0]
    summary = explain_finding(first.kind, lang).summary.rstrip("。.")
    key = "timeout-finding" if first.kind == "timeout" else "finding"
    headline = say(lang, key, kind=first.kind, summary=summary, case=case.said(lang))
    details = [first.said.text(lang, learner=True), *_at(first, source, lang)]
    if first.other is not None:
        line = say(lang, "line-of-other", line=first.other.line) if first.other.line else ""
        who = say(lang, "who", block=_point(first.other.block), thread=_point(first.other.thread))
        details.append("  " + say(lang, "other-party", who=f"{line}{who}"))
    if first.count > 1:
        details.append("  " + say(lang, "met", count=first.count))
    if len(findings) > 1:
        kinds = ", ".join(dict.fromkeys(each.kind for each in findings[1:]))
        details.append("  " + say(lang, "more-findings", count=len(findings) - 1, kinds=kinds))
    details.append(say(lang, "explain-finding", kind=first.kind))
    return Failure(first.kind, headline, tuple(details))


def _at(finding: Finding, source: str, lang: str) -> list[str]:
    who = "  " + say(lang, "who", block=_point(finding.block), thread=_point(finding.thread))
    if not finding.line:
        return [who]
    lines = source.splitlines()
    text = lines[finding.line - 1].strip() if finding.line <= len(lines) else ""
    file = finding.file.replace("\\", "/").rsplit("/", 1)[-1]
    return [f"  {say(lang, 'at-line', file=file, line=finding.line, text=text)}", who]


def _point(extent: Sequence[int]) -> str:
    return f"({', '.join(map(str, extent))})"
