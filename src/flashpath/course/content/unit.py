"""One unit: what it is, and its exercises and quiz, which are read when they are asked for."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from pathlib import Path

from flashpath.course.content.errors import UnknownName
from flashpath.course.content.exercise import Exercise, quiz_exercise
from flashpath.course.content.exercise_file import load_exercise
from flashpath.course.content.quiz import QuizItem, load_quiz
from flashpath.course.content.table import Table, check_slug, table_of
from flashpath.course.content.text import Texts
from flashpath.messages import Text, did_you_mean, told

STATUSES = ("ready", "planned")
QUIZ = "quiz"


@dataclass(frozen=True)
class Checkpoint:
    """What one must be able to explain."""

    id: str
    ask: Text
    answer: Text | None = None  # of units: shown once the learner has answered in their own words
    topic: Text | None = None  # of tracks: groups them


@dataclass(frozen=True)
class Figure:
    """A figure of the unit, and the function that makes it."""

    name: str  # without .svg
    made_by: str  # flashpath.course.figures.units.coalescing:sectors


@dataclass(frozen=True)
class Unit:
    folder: Path
    title: Text
    status: str
    goals: Texts
    prerequisites: tuple[str, ...] = ()
    minutes: int = 0  # 0 where it is planned and nobody knows yet
    serves: tuple[str, ...] = ()
    rungs: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    docs: tuple[str, ...] = ()  # pages of docs/, without .md
    exercises: tuple[str, ...] = ()  # names, in order, without the quiz
    checkpoints: tuple[Checkpoint, ...] = ()
    figures: tuple[Figure, ...] = ()

    @property
    def id(self) -> str:
        """As its folder: 01-first-kernel."""
        return self.folder.name

    @property
    def name(self) -> str:
        """Without the number: first-kernel."""
        return short_name(self.id)

    @property
    def number(self) -> int:
        return int(self.id.partition("-")[0])

    @property
    def is_ready(self) -> bool:
        return self.status == "ready"

    @property
    def has_quiz(self) -> bool:
        return (self.folder / "quiz.toml").exists()

    @property
    def exercise_names(self) -> tuple[str, ...]:
        """Names in order; the quiz is the last, and of a unit that is planned all there is."""
        written = self.exercises if self.is_ready else ()
        return (*written, QUIZ) if self.has_quiz else written

    @property
    def exercise_ids(self) -> tuple[str, ...]:
        """first-kernel/vector-add, …, first-kernel/quiz."""
        return tuple(f"{self.name}/{each}" for each in self.exercise_names)

    @functools.cached_property
    def quiz(self) -> tuple[QuizItem, ...]:
        return load_quiz(self.folder / "quiz.toml") if self.has_quiz else ()

    def exercise(self, name: str) -> Exercise:
        """An exercise of this unit by its name, or its quiz."""
        if name == QUIZ and self.has_quiz:
            return quiz_exercise(self.name, self.folder, self.quiz)
        if name not in self.exercises:
            raise UnknownName(
                "course.content.unknown-exercise-of-unit",
                unit=self.name,
                name=name,
                advice=did_you_mean(name, self.exercise_names),
            )
        return _exercise(self.folder / "exercises" / name, self.name)

    def all_exercises(self) -> tuple[Exercise, ...]:
        """Every exercise in order, the quiz last; each is read."""
        return tuple(self.exercise(each) for each in self.exercise_names)

    def lesson_file(self, lang: str) -> Path:
        return self.folder / f"lesson.{lang}.md"


@functools.cache
def _exercise(folder: Path, unit: str) -> Exercise:
    return load_exercise(folder, unit)


def short_name(folder: str) -> str:
    """A unit's name without its number."""
    return re.sub(r"^\d+-", "", folder)


def load_unit(folder: Path) -> Unit:
    with table_of(folder / "unit.toml") as table:
        status = table.choice("status", STATUSES, "ready")
        goals = table.texts("goals")
        if not goals:
            table.missing("goals.en", told("course.content.example-goals"))
        ready = status == "ready"
        unit = Unit(
            folder=folder,
            title=table.text("title"),
            status=status,
            goals=goals,
            prerequisites=table.strings("prerequisites"),
            minutes=table.integer("minutes", 1, 60 * 60, default=None if ready else 0),
            serves=_serves(table),
            rungs=_rungs(table),
            programs=table.strings("programs"),
            docs=table.strings("docs"),
            exercises=_exercises(table, folder, ready),
            checkpoints=read_checkpoints(table),
            figures=_figures(table),
        )
    from flashpath.course.content.references import program_file

    for each in unit.programs:
        if program_file(each) is None:
            table.wrong("programs", "course.content.no-such-program-file", name=each)
    return unit


def read_checkpoints(table: Table, key: str = "checkpoints") -> tuple[Checkpoint, ...]:
    found: list[Checkpoint] = []
    for each in table.tables(key):
        name = check_slug(each, "id", each.string("id"))
        answer, topic = each.maybe_text("answer"), each.maybe_text("topic")
        checkpoint = Checkpoint(name, each.text("ask"), answer, topic)
        if any(other.id == checkpoint.id for other in found):
            each.wrong("id", "course.content.checkpoint-twice", id=checkpoint.id)
        found.append(checkpoint)
    return tuple(found)


def _serves(table: Table) -> tuple[str, ...]:
    lines = table.strings("serves")
    for each in lines:
        if not re.fullmatch(r"\d{3}-\d{2,3}", each):
            table.wrong("serves", "course.content.not-a-plan-line", name=each)
    return lines


def _rungs(table: Table) -> tuple[str, ...]:
    rungs = table.strings("rungs")
    for each in rungs:
        if each.count("/") != 1:
            table.wrong("rungs", "course.content.not-a-rung-name", name=each)
    return rungs


def _exercises(table: Table, folder: Path, ready: bool) -> tuple[str, ...]:
    names = table.strings("exercises")
    for each in names:
        if check_slug(table, "exercises", each) == QUIZ:
            table.wrong("exercises", "course.content.quiz-in-list")
        if ready and not (folder / "exercises" / each / "exercise.toml").exists():
            table.wrong("exercises", "course.content.no-exercise-file", name=each)
    for each in sorted((folder / "exercises").glob("*/exercise.toml")):
        if each.parent.name not in names:
            table.wrong("exercises", "course.content.not-in-list", name=each.parent.name)
    return names


def _figures(table: Table) -> tuple[Figure, ...]:
    found: list[Figure] = []
    for each in table.tables("figures"):
        name = check_slug(each, "name", each.string("name").removesuffix(".svg"))
        made_by = each.string("made_by", '"flashpath.course.figures.units.coalescing:sectors"')
        if not re.fullmatch(r"flashpath\.course\.figures\.units\.\w+:\w+", made_by):
            each.wrong("made_by", "course.content.names-no-figure", made_by=made_by)
        if any(other.name == name for other in found):
            each.wrong("name", "course.content.figure-twice", name=name)
        found.append(Figure(name, made_by))
    return tuple(found)
