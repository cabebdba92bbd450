"""Questions of a quiz, and those of guided reading."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from flashpath.course.content.table import Table, check_slug, table_of
from flashpath.course.content.text import Texts
from flashpath.messages import Text, told

KINDS = ("choice", "number", "order", "text")
MOST_HELD = 8  # texts of a question
LONGEST_HELD = 80  # characters of each


@dataclass(frozen=True)
class QuizItem:
    """One question. Which of the last fields hold the answer depends on the kind."""

    id: str
    kind: str  # choice, number, order, text
    ask: Text
    explain: Text
    options: Texts  # of choice; of order in the right order
    choices: tuple[int, ...] = ()  # of choice: the right options, from 1
    number: float | None = None
    tolerance: float = 0.0  # relative
    patterns: tuple[str, ...] = ()  # of text: one must match the whole answer
    function: str | None = None  # of guided reading: what the question is about
    file: str | None = None  # where that is, if in another file than the exercise's
    holds: tuple[str, ...] = ()  # of guided reading: texts of the function that the answer rests on

    @property
    def answer(self) -> tuple[int, ...] | float | tuple[str, ...]:
        """As the file has it; of order, the numbers of the options in the right order."""
        if self.kind == "number":
            return cast("float", self.number)
        if self.kind == "text":
            return self.patterns
        return self.choices


def load_quiz(file: Path) -> tuple[QuizItem, ...]:
    with table_of(file) as table:
        return read_items(table)


def read_items(table: Table, *, about_functions: bool = False) -> tuple[QuizItem, ...]:
    items: list[QuizItem] = []
    for each in table.tables("items"):
        item = _item(each, about_functions)
        if any(other.id == item.id for other in items):
            each.wrong("id", "course.content.question-twice", id=item.id)
        items.append(item)
    if not items:
        table.missing("items", told("course.content.example-items"))
    return tuple(items)


def _item(table: Table, about_functions: bool) -> QuizItem:
    kind = table.choice("kind", KINDS)
    options = table.texts("options") if kind in ("choice", "order") else Texts()
    if kind in ("choice", "order") and len(options) < 2:
        table.wrong("options", "course.content.too-few-options", count=len(options))
    choices: tuple[int, ...] = tuple(range(1, len(options) + 1)) if kind == "order" else ()
    number, patterns, tolerance = None, (), 0.0
    if kind == "choice":
        choices = _choices(table, len(options))
    elif kind == "number":
        number = table.number("answer")
        tolerance = table.maybe_number("tolerance", 0, 1) or 0.0
    elif kind == "text":
        patterns = _patterns(table)
    return QuizItem(
        id=check_slug(table, "id", table.string("id")),
        kind=kind,
        ask=table.text("ask"),
        explain=table.text("explain"),
        options=options,
        choices=choices,
        number=number,
        tolerance=tolerance,
        patterns=patterns,
        function=table.string("function", '"saxpy"') if about_functions else None,
        file=upstream_path(table, "file", table.maybe_string("file")) if about_functions else None,
        holds=_holds(table) if about_functions else (),
    )


def upstream_path(table: Table, key: str, path: str | None) -> str | None:
    """A path inside of a clone."""
    if path is not None and (path.startswith("/") or "\\" in path or ".." in path.split("/")):
        table.wrong(key, "course.content.path-outside", path=path)
    return path


def _holds(table: Table) -> tuple[str, ...]:
    """Pieces of code that a clone must have: plain texts, short and few."""
    holds = table.strings("holds")
    if len(holds) > MOST_HELD or any(len(each) > LONGEST_HELD for each in holds):
        table.wrong("holds", "course.content.holds-too-much", most=MOST_HELD, longest=LONGEST_HELD)
    return holds


def _choices(table: Table, options: int) -> tuple[int, ...]:
    answer = table.raw("answer")
    numbers = cast("Sequence[Any]", answer if isinstance(answer, list) else [answer])
    if answer is None:
        table.missing("answer", told("course.content.example-option"))
    for each in numbers:
        if type(each) is not int or not 1 <= each <= options:
            table.wrong("answer", "course.content.not-an-option", answer=each, options=options)
    if not numbers or len(set(numbers)) < len(numbers):
        table.wrong("answer", "course.content.not-each-once", answer=answer)
    return tuple(sorted(numbers))


def _patterns(table: Table) -> tuple[str, ...]:
    patterns = table.strings("answer")
    if not patterns:
        table.missing("answer", told("course.content.example-patterns"))
    for each in patterns:
        try:
            re.compile(each)
        except re.error as error:
            table.wrong("answer", "course.content.not-a-pattern", pattern=each, error=str(error))
    return patterns
