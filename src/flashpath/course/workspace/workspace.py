"""A work folder: made, completed, found."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from flashpath.course.content import load_course
from flashpath.course.workspace import marker, repository
from flashpath.course.workspace.layouts import Layout, layout_of
from flashpath.course.workspace.marker import Marker, WorkspaceError
from flashpath.course.workspace.repository import State
from flashpath.course.workspace.writing import Outcome, Writer, explained, is_unfinished
from flashpath.messages import Message, speaking


@dataclass(frozen=True)
class Made:
    """What `Workspace.create` did."""

    workspace: Workspace
    is_new: bool
    counts: Counter[Outcome]
    kept: tuple[str, ...]  # files that are the learner's by now, and for which there is something newer
    git: State
    git_said: str | Message


@dataclass(frozen=True)
class Workspace:
    root: Path
    marker: Marker

    @property
    def track(self) -> str:
        return self.marker.track

    @property
    def lang(self) -> str:
        return self.marker.lang

    def file(self, exercise: str) -> Path:
        """The learner's file of an exercise: `first-kernel/vector-add`."""
        try:
            return self.root / self.marker.exercises[exercise]
        except KeyError:
            raise WorkspaceError(
                "course.workspace.no-exercise",
                file=self.root / marker.NAME,
                exercise=exercise,
                track=self.track,
            ) from None

    def notes(self) -> dict[str, Path]:
        """Where each note lies, or will lie once it is begun, by its name."""
        return {name: self.root / path for name, path in self.marker.notes.items()}

    # ---- Making ----------------------------------------------------------------------------------------

    @classmethod
    def create(
        cls,
        track: str,
        into: Path | None = None,
        lang: str | None = None,
        *,
        environment: Callable[[str], str] | None = None,
    ) -> Made:
        """Make the folder of a track, or complete the one that is there; nothing of the learner's is changed.

        `into` is by default a folder of the track's name. `lang` is by default that of the folder, or of the
        settings. `environment` writes the note on the environment in a language, where the layout has one.
        """
        from flashpath import settings

        with speaking(settings.language(lang)):
            course = load_course()
            found = course.track(track)  # says which there are
            root = settings.expanded(into or found.name)
            before = _before(root, found.name, lang)
            mark = before or Marker(found.name, settings.language(lang), datetime.date.today().isoformat())
        with speaking(mark.lang):
            layout = layout_of(course, found, mark)
            return _complete(root, mark, layout, before is None, environment)

    # ---- Finding ---------------------------------------------------------------------------------------

    @classmethod
    def find(cls, start: Path | None = None) -> Workspace | None:
        """The one that holds `start` (by default the current folder), else the last one used."""
        return cls.around(start) or cls.last_used()

    @classmethod
    def around(cls, start: Path | None = None) -> Workspace | None:
        """The one that a folder lies in."""
        try:
            here = (start or Path.cwd()).resolve()
        except OSError:  # the current folder was removed
            return None
        for folder in (here, *here.parents):
            if (folder / marker.NAME).is_file():
                return cls.open(folder)
        return None

    @classmethod
    def last_used(cls) -> Workspace | None:
        from flashpath.course.state import Store, StoreError

        try:
            with Store() as store:
                place = store.setting("work_folder")
        except StoreError:  # what needs the store says why it cannot be had
            return None
        return cls.at(Path(place)) if place is not None else None

    @classmethod
    def at(cls, root: Path) -> Workspace | None:
        """Returns the work folder that lies there, if one does."""
        return cls.open(root) if (root / marker.NAME).is_file() else None

    @classmethod
    def open(cls, root: Path) -> Workspace:
        return cls(root.resolve(), marker.read(root))


def _complete(
    root: Path, mark: Marker, layout: Layout, is_new: bool, environment: Callable[[str], str] | None
) -> Made:
    """Write what is missing, and bring up to date what nobody touched."""
    exercises, notes = layout.exercise_places(), layout.note_places()
    mark = mark.with_places(exercises, notes)
    moved = {path: mark.exercises[name] for name, path in exercises.items()}
    moved |= {path: mark.notes[name] for name, path in notes.items()}
    files = {moved.get(path, path): content for path, content in layout.files()}
    note = mark.notes.get("environment")
    if environment is not None and note is not None and not (root / note).exists():
        files[note] = environment(mark.lang)
    try:
        root.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise explained(root, error) from None
    root = root.resolve()
    writer = Writer(root)
    # First what marks it as a work folder: whatever is interrupted after that, the next start completes.
    writer.replace(marker.NAME, mark.text())
    try:
        for path, content in files.items():
            writer.put(path, content)
    finally:
        writer.close()
    there = [marker.NAME, *(path for path in files if (root / path).exists())]
    state, why = repository.begin(root, there, layout.track.title.in_(mark.lang))
    kept = tuple(path for path, outcome in writer.outcomes.items() if outcome == "kept")
    return Made(Workspace(root, mark), is_new, writer.counts, kept, state, why)


def _before(root: Path, track: str, lang: str | None) -> Marker | None:
    """What the folder was made as; None where there is none yet. Refuses one that is something else."""
    try:
        if root.exists() and not root.is_dir():
            raise WorkspaceError("course.workspace.into-file", root=root)
        if (root / marker.NAME).is_file():
            there = marker.read(root)
            if there.track != track:
                raise WorkspaceError(
                    "course.workspace.other-track", root=root, track=there.track, other=track
                )
            if lang is not None and there.lang != lang:
                raise WorkspaceError(
                    "course.workspace.other-language", root=root, lang=there.lang, other=lang
                )
            return there
        if root.is_dir() and any(not is_unfinished(each) for each in root.iterdir()):
            raise WorkspaceError("course.workspace.not-empty", root=root)
    except OSError as error:
        raise explained(root, error) from None
    return None
