"""What of a track is done, by week, day and task, and what comes next."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from flashpath.course.content import Course, Day, Part, Problem, ProblemSet, Task, Track, Unit, Week
from flashpath.course.content.proof import EXERCISE, NOTE, SEEN, SET
from flashpath.course.state.store import Store
from flashpath.errors import FlashpathError
from flashpath.messages import Message, did_you_mean

_NEAR = 0.7  # of 1: how like a name must be to be suggested


@dataclass(frozen=True)
class Count:
    """How much of something is done; of a `planned` unit only a quiz that is there counts."""

    exercises: int = 0
    exercises_done: int = 0
    tasks: int = 0
    tasks_done: int = 0
    planned: int = 0

    @property
    def total(self) -> int:
        return self.exercises + self.tasks

    @property
    def done(self) -> int:
        return self.exercises_done + self.tasks_done

    @property
    def share(self) -> float:
        return self.done / self.total if self.total else 0.0

    @property
    def is_done(self) -> bool:
        return self.total > 0 and self.done == self.total


@dataclass(frozen=True)
class Next:
    """What to do now: tasks of other kinds that come before, and the next exercise, where there is one."""

    week: Week
    day: Day | None
    unit: Unit | None
    exercise: str | None
    tasks: tuple[Task, ...]
    is_new_unit: bool
    """Whether the lesson is to be read first: nothing of the unit was tried yet."""


class Progress:
    """A track beside what the store has of it. `notes` are the names of the notes that are written."""

    def __init__(self, course: Course, track: Track, store: Store, notes: Collection[str] = ()) -> None:
        self.course = course
        self.track = track
        self.notes = frozenset(notes)
        self.passed = frozenset(store.passes())
        self.attempted = store.attempted() | self.passed
        self.given_up = store.given_up() - self.passed
        self.answered = frozenset(each.item for each in store.reviews.all().values() if each.ever_right)
        self.seen = store.seen()
        self.ticked = store.ticks(track.name)
        self.ticked_of_units = store.ticks("")

    # ---- Done or not -----------------------------------------------------------------------------------

    def is_done(self, task: Task) -> bool:
        """By what it names, or ticked by hand: what was done elsewhere is done too."""
        if task.id in self.ticked:
            return True
        proof = task.done_by
        if proof is None:
            return False
        if proof.kind == NOTE:
            return proof.name in self.notes
        if proof.kind == SEEN:
            return proof.name in self.seen
        if proof.kind == SET:
            chosen = self.track.problem_set(proof.name)
            return self.solved(chosen) == len(chosen.problems)
        if proof.kind == EXERCISE:
            return self.course.exercise(proof.name).id in self.passed
        return self.unit_is_done(self.course.unit(proof.name))

    def is_solved(self, problem: Problem) -> bool:
        """An exercise that was passed, a question that was answered right once."""
        return problem.id in (self.answered if problem.question is not None else self.passed)

    def solved(self, problem_set: ProblemSet) -> int:
        """Returns how many problems of a set are."""
        return sum(map(self.is_solved, problem_set.problems))

    def unit_is_done(self, unit: Unit) -> bool:
        """All its exercises were passed; a unit to come is never done."""
        return unit.is_ready and all(each in self.passed for each in unit.exercise_ids)

    def is_ticked(self, checkpoint: str) -> bool:
        """A checkpoint of the track by its id, or one of a unit: `first-kernel/global-index`."""
        return checkpoint in self.ticked or checkpoint in self.ticked_of_units

    # ---- Counts ----------------------------------------------------------------------------------------

    def of_track(self) -> Count:
        return self._count(map(self._whole, self.track.units), [task for _, _, task in self.track.tasks()])

    def of_week(self, week: Week) -> Count:
        return self._count(self.course.parts(week), week.all_tasks)

    def of_day(self, day: Day) -> Count:
        return self._count(self.course.parts_of_day(day), day.tasks)

    def of_unit(self, unit: Unit) -> Count:
        return self._count([self._whole(unit.id)], ())

    def _whole(self, name: str) -> Part:
        unit = self.course.unit(name)
        return Part(None, unit, unit.exercise_ids)

    def _count(self, parts: Iterable[Part], tasks: Iterable[Task]) -> Count:
        chosen, listed = list(parts), list(tasks)
        planned = len({part.unit.id for part in chosen if not part.unit.is_ready})
        exercises = {exercise for part in chosen for exercise in part.exercises}
        return Count(
            exercises=len(exercises),
            exercises_done=sum(each in self.passed for each in exercises),
            tasks=len(listed),
            tasks_done=sum(map(self.is_done, listed)),
            planned=planned,
        )

    # ---- What comes next -------------------------------------------------------------------------------

    def exercises(self) -> tuple[str, ...]:
        """Returns every exercise of the track that can be done, in the order of the plan, each once."""
        return exercises_of(self.course, self.track)

    def planned_units(self) -> list[Unit]:
        """Returns the units of the track that are not written yet."""
        return [unit for unit in map(self.course.unit, self.track.units) if not unit.is_ready]

    def next(self) -> Next | None:
        """None: all is done that can be done today. What was given up is left for the end."""
        wanted = [each for each in self.exercises() if each not in self.passed]
        exercise = next((each for each in wanted if each not in self.given_up), wanted[0] if wanted else None)
        place = self._place(exercise)
        tasks = tuple(self._tasks_before(place))
        if exercise is None and not tasks:
            return None
        if place is None:
            week, day = next((week, day) for week, day, task in self.track.tasks() if task is tasks[0])
            return Next(week, day, None, None, tasks, False)
        week, day, unit = place
        tried = any(each in self.attempted or each in self.given_up for each in unit.exercise_ids)
        return Next(week, day, unit, exercise, tasks, unit.is_ready and not tried)

    def next_exercise(self, after: str | None = None) -> str | None:
        """The first that is not passed, from `after` on, and round again from the beginning."""
        order = self.exercises()
        start = order.index(after) + 1 if after in order else 0
        turned = (*order[start:], *order[:start])
        open_ones = [each for each in turned if each not in self.passed and each != after]
        return next((each for each in open_ones if each not in self.given_up), next(iter(open_ones), None))

    def _place(self, exercise: str | None) -> tuple[Week, Day | None, Unit] | None:
        for week in self.track.weeks:
            for part in self.course.parts(week):
                if exercise in part.exercises:
                    return week, part.day, part.unit
        return None

    def _tasks_before(self, place: tuple[Week, Day | None, Unit] | None) -> Iterator[Task]:
        """Tasks still to do that no exercise shows as done, up to the day or week of the next exercise."""
        for week, day in self._slots():
            for task in week.tasks if day is None else day.tasks:
                is_exercise = task.done_by is not None and task.done_by.unit is not None
                if not is_exercise and not self.is_done(task):
                    yield task
            if place is not None and (week, day) == place[:2]:
                return

    def _slots(self) -> Iterator[tuple[Week, Day | None]]:
        """The days of each week, and then the week itself with what belongs to no day."""
        for week in self.track.weeks:
            yield from ((week, day) for day in week.days)
            yield week, None

    # ---- Ticking ---------------------------------------------------------------------------------------

    def tick_key(self, name: str) -> tuple[str, str]:
        """Track and item, as the store keeps them, of a task or checkpoint that is named."""
        own = {task.id for _, _, task in self.track.tasks()}
        own |= {each.id for stage in self.track.stages for each in stage.checkpoints}
        own |= {each.id for each in self.track.assessment}
        if name in own:
            return self.track.name, name
        unit_name, slash, checkpoint = name.partition("/")
        of_units = {f"{unit.name}/{each.id}": unit for unit in self.course.units for each in unit.checkpoints}
        if slash:
            unit = self.course.unit(unit_name)
            if f"{unit.name}/{checkpoint}" in of_units:
                return "", f"{unit.name}/{checkpoint}"
        raise FlashpathError(
            "course.state.no-task",
            track=self.track.name,
            name=name,
            advice=did_you_mean(name, [*own, *of_units], near=_NEAR, most=0)
            or Message("course.state.tasks-listed"),
        )


def exercises_of(course: Course, track: Track) -> tuple[str, ...]:
    """Returns every exercise of a track that can be done, in the order of the plan, each once."""
    ids = (each for week in track.weeks for part in course.parts(week) for each in part.exercises)
    return tuple(dict.fromkeys(ids))
