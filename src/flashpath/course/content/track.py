"""A track: a plan as an ordered view over the units."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from flashpath.course.content.problem_set import ProblemSet, read_problem_set
from flashpath.course.content.proof import NOTE, RAN, SEEN, SET, SIGHTS, Proof, proof_of
from flashpath.course.content.resources import Resource, ResourceUse
from flashpath.course.content.table import Table, check_slug, table_of
from flashpath.course.content.text import NO_TEXTS, Texts
from flashpath.course.content.unit import Checkpoint, read_checkpoints, short_name
from flashpath.messages import Text, did_you_mean, told

if TYPE_CHECKING:
    from flashpath.course.content.unit import Unit

LAYOUTS = ("weeks", "days", "first-week")
BOXES = ("theory", "reading", "practice", "reflection")


@dataclass(frozen=True)
class Task:
    id: str
    do: Text
    done_by: Proof | None = None  # ticked by hand where there is none


@dataclass(frozen=True)
class Formula:
    """A card to keep at hand."""

    title: Text
    text: str


@dataclass(frozen=True)
class Correction:
    """What is true where a plan is not; of the weeks that are named, else of the whole track."""

    text: Text
    weeks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Day:
    number: str  # "1", or "1-2"
    title: Text
    minutes: Mapping[str, int] = field(default_factory=dict[str, int])  # by BOXES
    goals: Texts = NO_TEXTS
    outputs: Texts = NO_TEXTS
    resources: tuple[ResourceUse, ...] = ()
    units: tuple[str, ...] = ()
    exercises: tuple[str, ...] = ()  # of a unit that has some here only these; the others end the week
    tasks: tuple[Task, ...] = ()
    files: tuple[str, ...] = ()  # of the upstream repository, to be read
    note: Text | None = None


@dataclass(frozen=True)
class Week:
    number: str  # "1", or "7-8"
    title: Text
    goals: Texts = NO_TEXTS
    hours: str | None = None
    outputs: Texts = NO_TEXTS
    resources: tuple[ResourceUse, ...] = ()
    units: tuple[str, ...] = ()
    tasks: tuple[Task, ...] = ()
    days: tuple[Day, ...] = ()
    files: tuple[str, ...] = ()  # of the upstream repository, to be read
    formulas: tuple[Formula, ...] = ()
    difficulty: int | None = None  # where it is not the track's
    note: Text | None = None

    @property
    def all_units(self) -> tuple[str, ...]:
        """Those of its days and its own, in the order in which they are gone through, each once."""
        return tuple(dict.fromkeys((*(unit for day in self.days for unit in day.units), *self.units)))

    @property
    def all_tasks(self) -> tuple[Task, ...]:
        return (*self.tasks, *(task for day in self.days for task in day.tasks))


@dataclass(frozen=True)
class Stage:
    title: Text
    checkpoints: tuple[Checkpoint, ...] = ()
    weeks: tuple[Week, ...] = ()
    weeks_expected: str | None = None
    note: Text | None = None


@dataclass(frozen=True)
class Track:
    name: str
    title: Text
    plan: str
    layout: str
    difficulty: int
    stages: tuple[Stage, ...]
    weeks_expected: str | None = None
    days_expected: str | None = None
    hours: str | None = None
    about: Text | None = None
    practice: int | None = None  # stars, as difficulty
    serves: tuple[str, ...] = ()  # lines of the plans that the track itself serves
    prerequisites: Texts = NO_TEXTS
    habits: Texts = NO_TEXTS
    time: Texts = NO_TEXTS
    resources: tuple[ResourceUse, ...] = ()
    assessment: tuple[Checkpoint, ...] = ()
    corrections: tuple[Correction, ...] = ()
    problem_sets: tuple[ProblemSet, ...] = ()

    def problem_set(self, name: str) -> ProblemSet:
        """The one of that id, which the track is known to have."""
        return next(each for each in self.problem_sets if each.id == name)

    def corrections_of(self, week: Week | None) -> tuple[Correction, ...]:
        """Those to show with a week; of no week: those of the whole track."""
        return tuple(
            each
            for each in self.corrections
            if (week is None and not each.weeks) or (week is not None and week.number in each.weeks)
        )

    @property
    def weeks(self) -> tuple[Week, ...]:
        return tuple(week for stage in self.stages for week in stage.weeks)

    @property
    def units(self) -> tuple[str, ...]:
        """Folder names of all its units in order, each once."""
        return tuple(dict.fromkeys(unit for week in self.weeks for unit in week.all_units))

    def tasks(self) -> Iterator[tuple[Week, Day | None, Task]]:
        """Every task with its week and, where it has one, its day."""
        for week in self.weeks:
            yield from ((week, None, task) for task in week.tasks)
            for day in week.days:
                yield from ((week, day, task) for task in day.tasks)


def load_track(file: Path, units: Mapping[str, Unit], resources: Mapping[str, Resource]) -> Track:
    """`units` are by folder name."""
    reader = _Reader(units, resources)
    with table_of(file) as table:
        problem_sets = tuple(reader.problem_set(each) for each in table.tables("problem_sets"))
        stages = tuple(reader.stage(each) for each in table.tables("stages"))
        return Track(
            name=file.stem,
            title=table.text("title"),
            plan=table.string("plan", '"000"'),
            layout=table.choice("layout", LAYOUTS),
            difficulty=table.integer("difficulty", 1, 5),
            weeks_expected=_number(table, "weeks_expected", needed=False),
            days_expected=_number(table, "days_expected", needed=False),
            hours=table.maybe_string("hours"),
            about=table.maybe_text("about"),
            practice=table.integer("practice", 1, 5) if "practice" in table else table.raw("practice"),
            serves=table.strings("serves"),
            prerequisites=table.texts("prerequisites"),
            habits=table.texts("habits"),
            time=table.texts("time"),
            resources=reader.resources_of(table),
            assessment=reader.checkpoints(table, "assessment"),
            corrections=tuple(reader.correction(each, stages) for each in table.tables("corrections")),
            problem_sets=problem_sets,
            stages=stages or table.missing("stages", told("course.content.example-stages")),
        )


class _Reader:
    """Reads the parts of one track, in which no task and no checkpoint has the id of another."""

    def __init__(self, units: Mapping[str, Unit], resources: Mapping[str, Resource]) -> None:
        self.units = units
        self.resources = resources
        self.seen: set[tuple[str, str]] = set()
        self.sets: list[str] = []

    def checkpoints(self, table: Table, key: str = "checkpoints") -> tuple[Checkpoint, ...]:
        checkpoints = read_checkpoints(table, key)
        for each in checkpoints:
            self._once(table, "id", each.id)  # ticked in one list with tasks
        return checkpoints

    def problem_set(self, table: Table) -> ProblemSet:
        found = read_problem_set(table, self._unit)
        self._once(table, "id", found.id)
        self._once(table, "number", f"set {found.number}")
        self.sets.append(found.id)
        return found

    def correction(self, table: Table, stages: tuple[Stage, ...]) -> Correction:
        weeks = table.strings("weeks")
        known = [week.number for stage in stages for week in stage.weeks]
        for each in weeks:
            if each not in known:
                table.wrong(
                    "weeks", "course.content.no-such-week", name=each, advice=did_you_mean(each, known)
                )
        return Correction(table.own_text(), weeks)

    def stage(self, table: Table) -> Stage:
        return Stage(
            title=table.text("title"),
            checkpoints=self.checkpoints(table),
            weeks_expected=_number(table, "weeks_expected", needed=False),
            weeks=tuple(self.week(each) for each in table.tables("weeks")),
            note=table.maybe_text("note"),
        )

    def week(self, table: Table) -> Week:
        units = self._units(table)
        return Week(
            number=self._number_once(table, "weeks"),
            title=table.text("title"),
            goals=table.texts("goals"),
            hours=table.maybe_string("hours"),
            outputs=table.texts("outputs"),
            resources=self.resources_of(table),
            units=units,
            tasks=self._tasks(table),
            days=tuple(self.day(each, units) for each in table.tables("days")),
            files=table.strings("files"),
            formulas=tuple(
                Formula(each.text("title"), each.string("text")) for each in table.tables("formulas")
            ),
            difficulty=table.integer("difficulty", 1, 5)
            if "difficulty" in table
            else table.raw("difficulty"),
            note=table.maybe_text("note"),
        )

    def day(self, table: Table, of_week: tuple[str, ...]) -> Day:
        """Reads a day of a week that has the units `of_week` besides those of its days."""
        with table.table("minutes") as boxes:
            minutes = {name: boxes.integer(name, 1, 24 * 60) for name in BOXES if name in boxes}
            for name in BOXES:
                boxes.raw(name)
        units = self._units(table)
        return Day(
            number=_number(table, "number"),
            title=table.text("title"),
            minutes=minutes,
            goals=table.texts("goals"),
            outputs=table.texts("outputs"),
            resources=self.resources_of(table),
            units=units,
            exercises=self._exercises(table, units, of_week),
            tasks=self._tasks(table),
            files=table.strings("files"),
            note=table.maybe_text("note"),
        )

    def _exercises(self, table: Table, units: tuple[str, ...], of_week: tuple[str, ...]) -> tuple[str, ...]:
        """Reads the exercises of its units that belong to the day; the others must be those of the week."""
        chosen = table.strings("exercises")
        for each in chosen:
            unit = self._unit(table, "exercises", each.partition("/")[0])
            if unit.id not in units:
                table.one_of("exercises", unit.id, units)
            if each not in unit.exercise_ids:
                self._no_exercise(table, "exercises", unit, each.partition("/")[2])
            if unit.id not in of_week and not set(unit.exercise_ids) <= set(chosen):
                table.wrong("exercises", "course.content.exercises-left-out", id=unit.id)
        return chosen

    def _tasks(self, table: Table) -> tuple[Task, ...]:
        return tuple(self._task(each) for each in table.tables("tasks"))

    def _task(self, table: Table) -> Task:
        name, do, done_by = table.string("id"), table.text("do"), table.maybe_string("done_by")
        task = Task(check_slug(table, "id", name), do, None if done_by is None else proof_of(done_by))
        self._once(table, "id", task.id)
        if task.done_by is not None:
            self._check_proof(table, task.done_by)
        return task

    def _check_proof(self, table: Table, proof: Proof) -> None:
        if proof.kind == NOTE:
            check_slug(table, "done_by", proof.name)
        elif proof.kind == SET:
            table.one_of("done_by", proof.name, self.sets)
        elif proof.kind == SEEN:
            if not proof.name.startswith(RAN):
                table.one_of("done_by", proof.name, SIGHTS)
        else:
            unit_name, slash, exercise = proof.name.partition("/")
            unit = self._unit(table, "done_by", unit_name)
            if slash and unit.is_ready and exercise not in unit.exercise_names:
                self._no_exercise(table, "done_by", unit, exercise)

    def _no_exercise(self, table: Table, key: str, unit: Unit, exercise: str) -> None:
        advice = did_you_mean(exercise, unit.exercise_names)
        table.wrong(key, "course.content.no-such-exercise", id=unit.id, exercise=exercise, advice=advice)

    def _unit(self, table: Table, key: str, name: str) -> Unit:
        unit = _find(self.units, name)
        if unit is None:
            table.wrong(key, "course.content.no-such-unit", name=name, advice=did_you_mean(name, self.units))
        return unit

    def _units(self, table: Table) -> tuple[str, ...]:
        return tuple(self._unit(table, "units", each).id for each in table.strings("units"))

    def resources_of(self, table: Table) -> tuple[ResourceUse, ...]:
        uses: list[ResourceUse] = []
        for each in table.strings("resources"):
            key, _, part = each.partition(":")
            if key not in self.resources:
                table.wrong(
                    "resources",
                    "course.content.no-such-resource",
                    key=key,
                    advice=did_you_mean(key, self.resources),
                )
            uses.append(ResourceUse(key, part.strip() or None))
        return tuple(uses)

    def _once(self, table: Table, key: str, name: str) -> None:
        if (key, name) in self.seen:
            table.wrong(key, "course.content.twice-in-track", name=name)
        self.seen.add((key, name))

    def _number_once(self, table: Table, key: str) -> str:
        number = _number(table, "number")
        self._once(table, key, number)
        return number


def _number(table: Table, key: str, *, needed: bool = True) -> str:
    """`1` or `"7-8"`."""
    value = table.raw(key)
    if value is None and needed:
        table.missing(key, told("course.content.example-weeks"))
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return str(value)
    if value is not None and not (isinstance(value, str) and value.strip()):
        table.wrong(key, "course.content.not-a-number", value=value)
    return value  # type: ignore[return-value]


def _find(units: Mapping[str, Unit], name: str) -> Unit | None:
    if name in units:
        return units[name]
    return next((unit for folder, unit in units.items() if short_name(folder) == name), None)
