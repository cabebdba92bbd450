"""Notes and reports: whether every section of the template is filled, never what is in it."""

from __future__ import annotations

import re

from flashpath.course.content.exercise import Exercise
from flashpath.course.grader.verdict import Failure, Judged, Line
from flashpath.messages import LANGUAGES, spoken, told

_HEADING = re.compile(r"^(#{2,6})\s+(.*?)\s*#*\s*$")
_FENCE = re.compile(r"^\s*(```|~~~)")


def judge(exercise: Exercise, text: str) -> Judged:
    """Every heading of the template is there with enough under it; its language is that of the note."""
    template = max(
        (exercise.template(lang) for lang in LANGUAGES),
        key=lambda template: (
            len(sections(template).keys() & sections(text).keys()),
            template == exercise.template(spoken()),
        ),
    )
    wanted, given = sections(template), sections(text)
    lines: list[Line] = []
    missing = 0
    for heading, of_template in wanted.items():
        if not asks(of_template):
            continue
        if heading not in given:
            missing += 1
            lines.append(told("course.grader.section-missing", heading=heading))
            continue
        have = filled(given[heading], of_template)
        if have < exercise.least:
            missing += 1
            lines.append(
                told("course.grader.section-empty", heading=heading, have=have, least=exercise.least)
            )
        else:
            lines.append(told("course.grader.section-filled", heading=heading))
    n = len(lines)
    if missing:
        return Judged(
            Failure("incomplete", told("course.grader.incomplete", count=missing, n=n), tuple(lines)),
            cases=n - missing,
        )
    return Judged(None, cases=n, lines=tuple(lines), headline=told("course.grader.complete", n=n))


def sections(text: str) -> dict[str, list[str]]:
    """The lines under each heading of the second level or deeper; marks inside code are none."""
    found: dict[str, list[str]] = {}
    current: list[str] | None = None
    in_code = False
    for line in text.splitlines():
        if _FENCE.match(line):
            in_code = not in_code
        heading = None if in_code else _HEADING.match(line)
        if heading:
            current = found.setdefault(heading[2], [])
        elif current is not None:
            current.append(line)
    return found


def asks(lines: list[str]) -> bool:
    """Whether a section of the template says what to write, and so is to be filled."""
    return any(line.lstrip().startswith(">") for line in lines)


def filled(lines: list[str], template: list[str]) -> int:
    """How many characters, without space, are neither the template's nor a quote."""
    theirs = {line.strip() for line in template}
    own = [line for line in lines if line.strip() not in theirs and not line.lstrip().startswith(">")]
    return sum(len("".join(line.split())) for line in own)
