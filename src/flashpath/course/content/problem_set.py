"""A problem set of a track: questions and exercises of its units, numbered, to be done in one go."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flashpath.course.content.quiz import QuizItem
from flashpath.course.content.table import Table, check_slug
from flashpath.messages import Text, did_you_mean, told

if TYPE_CHECKING:
    from flashpath.course.content.unit import Unit


@dataclass(frozen=True)
class Problem:
    """One number of a set: a question of a unit's quiz, or one of its exercises."""

    unit: str  # without the number: first-kernel
    exercise: str | None = None
    question: QuizItem | None = None

    @property
    def id(self) -> str:
        """first-kernel/vector-add; of a question first-kernel/who, as reviews have it."""
        return f"{self.unit}/{self.exercise or (self.question.id if self.question else '')}"


@dataclass(frozen=True)
class ProblemSet:
    id: str  # cuda-basics
    number: str  # 01: that of its page
    title: Text
    problems: tuple[Problem, ...]

    @property
    def questions(self) -> tuple[Problem, ...]:
        return tuple(each for each in self.problems if each.question is not None)

    @property
    def exercises(self) -> tuple[str, ...]:
        return tuple(each.id for each in self.problems if each.exercise is not None)


def read_problem_set(table: Table, unit_of: Callable[[Table, str, str], Unit]) -> ProblemSet:
    """`unit_of(table, key, name)` finds a unit, or refuses the table."""
    problems: list[Problem] = []
    for text in table.strings("problems"):
        problems.append(_problem(table, text, unit_of(table, "problems", text.partition("/")[0])))
    return ProblemSet(
        id=check_slug(table, "id", table.string("id")),
        number=table.string("number", '"01"'),
        title=table.text("title"),
        problems=tuple(problems)
        or table.missing("problems", '["first-kernel/vector-add", "first-kernel/quiz#who"]'),
    )


def _problem(table: Table, text: str, unit: Unit) -> Problem:
    exercise, mark, question = text.partition("/")[2].partition("#")
    if mark:
        items: Mapping[str, QuizItem] = {item.id: item for item in unit.quiz}
        if exercise != "quiz" or question not in items:
            names = [f"quiz#{each}" for each in items]
            _refuse(table, unit, text.partition("/")[2], names)
        return Problem(unit.name, question=items[question])
    if exercise not in unit.exercises or not unit.is_ready:
        _refuse(table, unit, exercise, unit.exercises if unit.is_ready else ())
    return Problem(unit.name, exercise=exercise)


def _refuse(table: Table, unit: Unit, name: str, known: tuple[str, ...] | list[str]) -> None:
    advice = did_you_mean(name, known) or told("course.content.leave-it-out")
    table.wrong("problems", "course.content.no-such-exercise", id=unit.id, exercise=name, advice=advice)
