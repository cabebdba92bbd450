"""A lesson: its shape, which is the same for all and in both languages, and its directives.

A directive stands alone on its line: `{{rung reduction/shuffle from="template" to="}"}}`. What it becomes
is in `directives`.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from flashpath.course.content.errors import ContentError
from flashpath.course.content.table import read
from flashpath.course.content.unit import Unit
from flashpath.messages import LANGUAGES, did_you_mean, told

HEADINGS = {
    "en": (
        "Why",
        "Picture",
        "Idea",
        "Code",
        "Experiment",
        "Common mistakes",
        "Exercises",
        "Checkpoint",
        "Further reading",
    ),
    "zh": ("为什么", "图", "思路", "代码", "实验", "常见错误", "练习", "检查点", "延伸阅读"),
}
# Each directive and the options that it takes.
DIRECTIVES: Mapping[str, tuple[str, ...]] = {
    "rung": ("from", "to", "file"),
    "program": ("from", "to"),
    "experiment": ("from", "to"),
    "run": ("from", "to"),
    "figure": (),
    "exercises": (),
    "checkpoints": (),
    "resource": (),
}
_ALONE = ("exercises", "checkpoints")

_FENCE = re.compile(r"\s*(```+|~~~+)")
_DIRECTIVE = re.compile(r"\{\{\s*(\w+)\s*(.*?)\s*\}\}\s*")
_OPTION = re.compile(r'\s+(\w+)="((?:[^"\\]|\\.)*)"\s*$')


@dataclass(frozen=True)
class Directive:
    name: str
    argument: str  # of run: the whole command
    options: Mapping[str, str]
    line: int  # in the lesson's file
    caption: str = ""  # of a figure: the line under it

    @property
    def key(self) -> tuple[str, str]:
        return self.name, self.argument


@dataclass(frozen=True)
class Heading:
    level: int
    text: str
    line: int


@dataclass(frozen=True)
class Lesson:
    unit: Unit
    lang: str
    file: Path
    parts: tuple[str | Directive, ...]  # Markdown as it is written, and what is put in
    headings: tuple[Heading, ...]

    @property
    def title(self) -> str:
        return self.headings[0].text

    @property
    def directives(self) -> tuple[Directive, ...]:
        return tuple(each for each in self.parts if isinstance(each, Directive))

    def outline(self) -> tuple[Mark, ...]:
        """What must be the same in both languages: levels of headings, and directives between them."""
        marks = [Mark(each.line, f"a heading of level {each.level}") for each in self.headings]
        marks += [Mark(each.line, f"{{{{{' '.join(each.key).strip()}}}}}") for each in self.directives]
        return tuple(sorted(marks, key=lambda mark: mark.line))


@dataclass(frozen=True)
class Mark:
    """A heading or a directive, without the words that are translated."""

    line: int
    what: str


def load_lesson(unit: Unit, lang: str) -> Lesson:
    """The lesson of a unit, its shape checked."""
    file = unit.lesson_file(lang)
    lesson = _parse(unit, lang, file, read(file))
    _check_shape(lesson)
    return lesson


def check_both(unit: Unit) -> None:
    """Both languages have the same headings and directives in the same order."""
    first, second = (load_lesson(unit, lang) for lang in LANGUAGES)
    for one, other in itertools.zip_longest(first.outline(), second.outline()):
        if one is None or other is None:
            missing = first if one is None else second
            extra = one or other
            raise ContentError(
                "course.content.missing-at-end", missing.file, None, what=extra.what if extra else ""
            )
        if one.what != other.what:
            raise ContentError(
                "course.content.lessons-differ",
                second.file,
                f"line {other.line}",
                here=other.what,
                name=first.file.name,
                there=one.what,
                line=one.line,
            )


def _parse(unit: Unit, lang: str, file: Path, text: str) -> Lesson:
    parts: list[str | Directive] = []
    headings: list[Heading] = []
    written: list[str] = []
    fence = ""
    lines = text.splitlines()
    number = 0
    while number < len(lines):
        line = lines[number]
        number += 1
        if mark := _FENCE.match(line):
            if not fence:
                fence = mark[1]
            elif mark[1].startswith(fence):
                fence = ""
        elif not fence and (heading := re.match(r"(#{1,6})\s+(.*?)\s*$", line)):
            headings.append(Heading(len(heading[1]), heading[2], number))
        elif not fence and line.lstrip().startswith("{{"):
            directive = _directive(file, line, number)
            if directive.name == "figure":
                caption = lines[number].strip() if number < len(lines) else ""
                number += bool(caption)
                directive = Directive(directive.name, directive.argument, {}, directive.line, caption)
            parts += ["\n".join(written), directive]
            written = []
            continue
        written.append(line)
    if fence:
        raise ContentError("course.content.open-code-block", file, None, fence=fence)
    return Lesson(unit, lang, file, (*parts, "\n".join(written)), tuple(headings))


def _directive(file: Path, line: str, number: int) -> Directive:
    place = f"line {number}"
    match = _DIRECTIVE.fullmatch(line.strip())
    if match is None:
        raise ContentError("course.content.not-a-directive", file, place, line=line.strip())
    name, rest = match.groups()
    if name not in DIRECTIVES:
        raise ContentError(
            "course.content.no-such-directive", file, place, name=name, advice=did_you_mean(name, DIRECTIVES)
        )
    options: dict[str, str] = {}
    rest = " " + rest
    while option := _OPTION.search(rest):
        if option[1] not in DIRECTIVES[name]:
            if name == "run":  # the command's own
                break
            known = ", ".join(DIRECTIVES[name]) or "none"
            raise ContentError(
                "course.content.no-such-option", file, place, name=name, option=option[1], known=known
            )
        options[option[1]] = re.sub(r"\\(.)", r"\1", option[2])
        rest = rest[: option.start()]
    argument = rest.strip()
    if bool(argument) == (name in _ALONE):
        wanted = f"{{{{{name}}}}}" if name in _ALONE else f"{{{{{name} …}}}}"
        raise ContentError(
            "course.content.directive-unreadable", file, place, line=line.strip(), wanted=wanted
        )
    return Directive(name, argument, options, number)


def _check_shape(lesson: Lesson) -> None:
    file, title = lesson.file, lesson.unit.title.in_(lesson.lang)
    first = lesson.headings[0] if lesson.headings else None
    if first is None or first.level != 1 or first.line != 1 or first.text != title:
        found = told("course.content.is-no-heading")
        if first and first.line == 1:
            found = told("course.content.is-heading", marks="#" * first.level, text=first.text)
        raise ContentError("course.content.other-title", file, "line 1", found=found, title=title)
    for each in lesson.headings[1:]:
        if each.level not in (2, 3):
            raise ContentError("course.content.heading-level", file, f"line {each.line}", level=each.level)
    found = [each for each in lesson.headings if each.level == 2]
    wanted = HEADINGS[lesson.lang]
    for number, name in enumerate(wanted):
        if number >= len(found):
            raise ContentError("course.content.section-missing", file, None, name=name)
        if found[number].text != name:
            raise ContentError(
                "course.content.section-misplaced",
                file,
                f"line {found[number].line}",
                text=found[number].text,
                name=name,
                sections=list(wanted),
            )
    if len(found) > len(wanted):
        extra = found[len(wanted)]
        raise ContentError("course.content.section-too-many", file, f"line {extra.line}", text=extra.text)
