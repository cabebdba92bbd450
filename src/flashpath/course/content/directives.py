"""What a lesson's directives become, in Markdown."""

from __future__ import annotations

import hashlib
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from flashpath.course.content.errors import ContentError
from flashpath.course.content.references import experiment_file, program_file, rung
from flashpath.course.content.table import read
from flashpath.course.content.text import kind_name
from flashpath.errors import FlashpathError
from flashpath.messages import Message, did_you_mean, told

if TYPE_CHECKING:
    from flashpath.course.content.course import Course
    from flashpath.course.content.exercise import Exercise
    from flashpath.course.content.lesson import Directive, Lesson
    from flashpath.course.content.resources import Resource
    from flashpath.course.content.unit import Unit

Link = Callable[[str], str | None]  # an exercise's id → where it leads
Image = Callable[[Path], str]  # a figure's SVG → the address that the page shows

LANGUAGE_NAMES = {"cuda": "CUDA C++", "triton": "Triton", "pytorch": "PyTorch", "python": "Python"}
_FENCES = {".cu": "cuda", ".cuh": "cuda", ".py": "python", ".cpp": "cpp", ".h": "cpp"}


def markdown(course: Course, lesson: Lesson, *, image: Image | None = None, link: Link | None = None) -> str:
    """Returns the lesson as Markdown with everything put in.

    Figures are images at the address that `image` gives, else their drawing in characters. `link` says where
    an exercise leads; else to its task's file.
    """
    expander = _Expander(course, lesson, image, link)
    texts = [each if isinstance(each, str) else expander.expand(each) for each in lesson.parts]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(texts)).strip() + "\n"


# ---- Commands and their output -------------------------------------------------------------------------


def output_name(command: str) -> str:
    """The file in `outputs/` of a command, without .txt: its first words, and a hash of all of it."""
    words = re.findall(r"[a-z0-9]+", command.lower().removeprefix("flashpath "))
    short = "-".join(words)[:40].strip("-")
    return f"{short}-{hashlib.sha256(command.encode()).hexdigest()[:6]}"


def output_file(unit: Unit, command: str, lang: str) -> Path:
    """What the command printed: in this language where it differs, else in the one file for both."""
    return _of_language(unit.folder / "outputs", output_name(command), lang, ".txt")


def figure_file(unit: Unit, name: str, lang: str, suffix: str) -> Path:
    return _of_language(unit.folder / "figures", name.removesuffix(".svg"), lang, suffix)


def _of_language(folder: Path, stem: str, lang: str, suffix: str) -> Path:
    own = folder / f"{stem}.{lang}{suffix}"
    return own if own.exists() else folder / f"{stem}{suffix}"


def words_of(command: str) -> list[str]:
    """The words of a lesson's command, which is one of flashpath's."""
    words = shlex.split(command)
    if words[:1] != ["flashpath"] or len(words) < 2:
        raise FlashpathError("course.content.no-command", command=command)
    return words


# ---- A part of a file ----------------------------------------------------------------------------------


def excerpt(text: str, start: str | None, end: str | None) -> str:
    """Returns the lines from the first that holds `start` to the next that begins with `end`; else all.

    What decorates a function comes with it.
    """
    lines = text.splitlines()
    first = 0
    if start is not None:
        first = next((number for number, line in enumerate(lines) if start in line), -1)
        if first < 0:
            raise FlashpathError("course.content.no-line-holds", start=start)
    found = first
    while first and lines[found].startswith("def ") and lines[first - 1].startswith("@"):
        first -= 1
    last = len(lines) - 1
    if end is not None:
        from_here = range(found + (start is not None), len(lines))
        last = next((number for number in from_here if lines[number].startswith(end)), -1)
        if last < 0:
            raise FlashpathError("course.content.no-line-begins", end=end)
    return "\n".join(lines[first : last + 1]).strip("\n")


def fenced(text: str, language: str) -> str:
    """A code block, whatever the text holds."""
    ticks = "`" * max(3, 1 + max((len(each) for each in re.findall(r"`+", text)), default=0))
    return f"{ticks}{language}\n{text}\n{ticks}"


def shell_lines(command: str, width: int = 80) -> str:
    """Returns a command on lines of at most that width, where its options allow it."""
    option = r"\S*?(?:'[^']*'\S*?)*(?=\s|$)"
    first, *words = re.findall(rf"--{option}(?:\s+(?!--){option})*|{option}", command)
    lines = [first]
    for word in filter(None, words):
        fits = len(lines[-1]) + len(word) + 3 <= width
        lines[-1:] = [f"{lines[-1]} {word}"] if fits else [lines[-1], f"    {word}"]
    return " \\\n".join(lines)


_MARKS = {"en": (": ", ", ", ". "), "zh": ("：", "，", "。")}  # colon, comma, full stop


# ---- Each directive ------------------------------------------------------------------------------------


class _Expander:
    def __init__(self, course: Course, lesson: Lesson, image: Image | None, link: Link | None) -> None:
        self.course = course
        self.lesson = lesson
        self.unit = lesson.unit
        self.lang = lesson.lang
        self.image = image
        self.link = link
        self.known = {
            "rung": self._rung,
            "program": self._program,
            "experiment": self._experiment,
            "run": self._run,
            "figure": self._figure,
            "exercises": self._exercises,
            "checkpoints": self._checkpoints,
            "resource": self._resource,
        }

    def expand(self, directive: Directive) -> str:
        try:
            return f"\n{self.known[directive.name](directive)}\n"
        except ContentError:
            raise
        except FlashpathError as error:
            raise ContentError(
                "course.content.of-another",
                self.lesson.file,
                f"line {directive.line}, {directive.name}",
                problem=error.said,
                advice=error.fix or "",
            ) from None

    def _rung(self, directive: Directive) -> str:
        found = rung(directive.argument)
        file = found.file.parent / directive.options["file"] if "file" in directive.options else found.file
        ladder, name = directive.argument.split("/")
        said = {"en": "The whole of it: ", "zh": "全文："}[self.lang]
        return f"{self._code(file, directive)}\n\n*{said}`flashpath ladder {ladder} {name}`*"

    def _program(self, directive: Directive) -> str:
        file = program_file(directive.argument)
        if file is None:
            raise FlashpathError("course.content.no-such-program", name=directive.argument)
        return f"{self._code(file, directive)}\n\n*`programs/{directive.argument}`*"

    def _experiment(self, directive: Directive) -> str:
        file = experiment_file(self.unit.folder, directive.argument)
        if file is None:
            raise FlashpathError("course.content.no-such-experiment", name=directive.argument)
        return f"{self._code(file, directive)}\n\n*`units/{self.unit.id}/experiments/{directive.argument}`*"

    def _code(self, file: Path, directive: Directive) -> str:
        text = excerpt(read(file), directive.options.get("from"), directive.options.get("to"))
        return fenced(text, _FENCES.get(file.suffix, "text"))

    def _run(self, directive: Directive) -> str:
        words_of(directive.argument)
        file = output_file(self.unit, directive.argument, self.lang)
        if not file.exists():
            raise FlashpathError("course.content.output-missing", name=file.name)
        output = excerpt(read(file), directive.options.get("from"), directive.options.get("to"))
        return f"{fenced(shell_lines(directive.argument), 'bash')}\n\n{fenced(output, 'text')}"

    def _figure(self, directive: Directive) -> str:
        name = directive.argument.removesuffix(".svg")
        if name not in [each.name for each in self.unit.figures]:
            known = [each.name for each in self.unit.figures]
            raise FlashpathError(
                "course.content.no-such-figure",
                name=name,
                advice=did_you_mean(name, known) or told("course.content.add-figure"),
            )
        file = figure_file(self.unit, name, self.lang, ".svg" if self.image else ".txt")
        if not file.exists():
            raise FlashpathError("course.content.figure-missing", name=file.name)
        caption = f"\n\n*{directive.caption}*" if directive.caption else ""
        if self.image is None:
            return fenced(read(file).rstrip(), "text") + caption
        return f"![{directive.caption}]({self.image(file)}){caption}"

    def _exercises(self, directive: Directive) -> str:
        del directive
        lines = [self._exercise(number, each) for number, each in enumerate(self.unit.all_exercises(), 1)]
        return "\n".join(lines)

    def _exercise(self, number: int, exercise: Exercise) -> str:
        target = self.link(exercise.id) if self.link else None
        title = exercise.title.in_(self.lang)
        own = f"exercises/{exercise.name}/task.{self.lang}.md" if exercise.kind != "quiz" else "quiz.toml"
        kind = kind_name(exercise.kind, self.lang)
        colon, comma, stop = _MARKS[self.lang]
        language = f"{comma}{LANGUAGE_NAMES[exercise.language]}" if exercise.language else ""
        minutes = Message("course.workspace.minutes", {"count": exercise.minutes}).text(self.lang)
        said = f"{kind}{language}{comma}{minutes}{stop}`flashpath grade {exercise.id}`"
        return f"{number}. [{title}]({target or own}){colon}{said}"

    def _checkpoints(self, directive: Directive) -> str:
        del directive
        return "\n".join(f"- {each.ask.in_(self.lang)}" for each in self.unit.checkpoints)

    def _resource(self, directive: Directive) -> str:
        return "- " + resource_line(self.course.resource(directive.argument), self.lang)


def resource_line(resource: Resource, lang: str, part: str = "") -> str:
    """Returns a resource in one line of Markdown; `part` names chapters of it."""
    title = resource.title.in_(lang)
    linked = f"[{title}]({resource.url})" if resource.url else title
    _, comma, stop = _MARKS[lang]
    by = f"{comma}{resource.by}" if resource.by else ""
    note = f"{stop}{resource.note.in_(lang)}" if resource.note else ""
    return f"{linked}{part}{by}{note}"
