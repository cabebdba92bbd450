"""The whole course: its units, tracks and resources, each read when it is first asked for."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Iterator
from pathlib import Path

from flashpath import settings
from flashpath.course.content.errors import ContentError, UnknownName
from flashpath.course.content.exercise import Exercise
from flashpath.course.content.resources import Resource, load_resources
from flashpath.course.content.track import Day, Task, Track, Week, load_track
from flashpath.course.content.unit import Unit, load_unit, short_name
from flashpath.messages import any_of, did_you_mean


@dataclasses.dataclass(frozen=True)
class Part:
    """What a day, or what is left for the end of its week, has of a unit."""

    day: Day | None
    unit: Unit
    exercises: tuple[str, ...]


class Course:
    def __init__(self, root: Path) -> None:
        self.root = root
        self._tracks: dict[str, Track] = {}
        self._units: dict[str, Unit] = {}

    # ---- Units -------------------------------------------------------------------------------------

    @functools.cached_property
    def unit_ids(self) -> tuple[str, ...]:
        """Folder names in order; nothing is read for them."""
        folders = sorted(each.parent for each in self.root.glob("units/*/unit.toml"))
        short: dict[str, Path] = {}
        for folder in folders:
            number, _, name = folder.name.partition("-")
            if not number.isdecimal() or not name:
                raise ContentError("course.content.unit-folder-name", folder, None)
            if name in short:
                raise ContentError("course.content.same-unit-name", folder, None, name=short[name].name)
            short[name] = folder
        return tuple(folder.name for folder in folders)

    @functools.cached_property
    def units(self) -> tuple[Unit, ...]:
        """Every unit in order."""
        return tuple(self._unit(each) for each in self.unit_ids)

    def unit(self, name: str) -> Unit:
        """A unit by its folder's name, or without the number."""
        wanted = name.strip().rstrip("/")
        for each in self.unit_ids:
            if wanted in (each, short_name(each), each.partition("-")[0]):
                return self._unit(each)
        names = [short_name(each) for each in self.unit_ids]
        raise UnknownName("course.content.unknown-unit", name=name, advice=did_you_mean(name, names))

    def _unit(self, folder: str) -> Unit:
        if folder not in self._units:
            self._units[folder] = load_unit(self.root / "units" / folder)
        return self._units[folder]

    # ---- Exercises ---------------------------------------------------------------------------------

    def exercise(self, name: str) -> Exercise:
        """`first-kernel/vector-add`, `first-kernel/quiz`; `vector-add` alone where only one unit has it."""
        unit, slash, exercise = name.strip().rstrip("/").partition("/")
        if slash:
            return self.unit(unit).exercise(exercise)
        found = [each for each in self.units if unit in each.exercises]
        if len(found) == 1:
            return found[0].exercise(unit)
        if found:
            names = any_of([f"{each.name}/{unit}" for each in found])
            raise UnknownName("course.content.several-exercises", name=name, names=names)
        named = next((each for each in self.units if each.name == unit), None)
        if named is not None and not named.exercise_names:
            raise UnknownName("course.content.unit-without-exercises", unit=unit)
        if named is not None:
            ids = named.exercise_ids
            raise UnknownName("course.content.unit-not-exercise", unit=unit, names=list(ids), first=ids[0])
        raise UnknownName(
            "course.content.unknown-exercise", name=name, advice=did_you_mean(name, self.exercise_ids)
        )

    @property
    def exercise_ids(self) -> tuple[str, ...]:
        """Returns the ids of the exercises of all units that are ready, in order."""
        return tuple(each for unit in self.units if unit.is_ready for each in unit.exercise_ids)

    # ---- Tracks and resources ----------------------------------------------------------------------

    @functools.cached_property
    def track_names(self) -> tuple[str, ...]:
        return tuple(sorted(each.stem for each in self.root.glob("tracks/*.toml")))

    @property
    def tracks(self) -> tuple[Track, ...]:
        return tuple(self.track(each) for each in self.track_names)

    def track(self, name: str) -> Track:
        if name not in self.track_names:
            raise UnknownName(
                "course.content.unknown-track", name=name, advice=did_you_mean(name, self.track_names)
            )
        if name not in self._tracks:
            units = {unit.id: unit for unit in self.units}
            self._tracks[name] = load_track(self.root / "tracks" / f"{name}.toml", units, self.resources)
        return self._tracks[name]

    def parts(self, week: Week) -> Iterator[Part]:
        """Yields the parts of units that a week has: day by day, and then what no day has."""
        units: set[str] = set()
        exercises: set[str] = set()
        for day in week.days:
            for part in self.parts_of_day(day):
                units.add(part.unit.id)
                exercises.update(part.exercises)
                yield part
        for part in self._parts(None, week.units, (), week.tasks):
            left = tuple(each for each in part.exercises if each not in exercises)
            if left or part.unit.id not in units:
                yield dataclasses.replace(part, exercises=left)

    def parts_of_day(self, day: Day) -> Iterator[Part]:
        return self._parts(day, day.units, day.exercises, day.tasks)

    def _parts(
        self, day: Day | None, names: Iterable[str], chosen: Iterable[str], tasks: Iterable[Task]
    ) -> Iterator[Part]:
        """Yields the named units with their chosen exercises, or all, and the proofs of the tasks."""
        wanted: dict[str, set[str]] = {}
        for unit in map(self.unit, names):
            own = set(unit.exercise_ids)
            wanted.setdefault(unit.id, set()).update(own.intersection(chosen) or own)
        for task in tasks:
            proof = task.done_by
            if proof is not None and proof.unit is not None:
                unit = self.unit(proof.unit)
                _, slash, exercise = proof.name.partition("/")
                own = {f"{unit.name}/{exercise}"} if slash else set(unit.exercise_ids)
                wanted.setdefault(unit.id, set()).update(own)
        for name, own in wanted.items():
            unit = self.unit(name)
            yield Part(day, unit, tuple(each for each in unit.exercise_ids if each in own))

    @functools.cached_property
    def resources(self) -> dict[str, Resource]:
        """By key."""
        return load_resources(self.root / "resources.toml")

    def resource(self, key: str) -> Resource:
        if key not in self.resources:
            raise UnknownName(
                "course.content.unknown-resource", name=key, advice=did_you_mean(key, self.resources)
            )
        return self.resources[key]


def load_course(root: Path | None = None) -> Course:
    """The course of this package, or the one in `root`."""
    return _course(settings.content_dir("course") if root is None else root)


@functools.lru_cache(maxsize=8)
def _course(root: Path) -> Course:
    return Course(root)
