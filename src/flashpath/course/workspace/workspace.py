"""A work folder: made, completed, found."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from flashpath.course.content import load_course
from flashpath.course.speech import said, speaking
from flashpath.course.workspace import marker, repository
from flashpath.course.workspace.layouts import Layout, layout_of
from flashpath.course.workspace.marker import Marker, WorkspaceError
from flashpath.course.workspace.repository import State
from flashpath.course.workspace.writing import Outcome, Writer, explained, is_unfinished


@dataclass(frozen=True)
class Made:
    """What `Workspace.create` did."""

    workspace: Workspace
    is_new: bool
    counts: Counter[Outcome]
    kept: tuple[str, ...]  # files that are the learner's by now, and for which there is something newer
    git: State
    git_said: str


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
        """The learner's file of an exercise: `first-kernel/saxpy`."""
        try:
            return self.root / self.marker.exercises[exercise]
        except KeyError:
            raise WorkspaceError(
                said(
                    f"{self.root / marker.NAME} has no exercise {exercise!r}.",
                    f"{self.root / marker.NAME} 中没有练习 {exercise!r}。",
                ),
                said(
                    f"`flashpath start {self.track}` adds the exercises that came since it was made.",
                    f"`flashpath start {self.track}` 会补上之后新增的练习。",
                ),
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
            root = (into or Path(found.name)).expanduser()
            before = _before(root, found.name, lang)
            mark = before or Marker(found.name, settings.language(lang), datetime.date.today().isoformat())
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
        if place is None or not (Path(place) / marker.NAME).is_file():
            return None
        return cls.open(Path(place))

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
            raise WorkspaceError(
                said(f"{root} is a file.", f"{root} 是一个文件。"),
                said("Name a folder with --into.", "请用 --into 指定一个目录。"),
            )
        if (root / marker.NAME).is_file():
            there = marker.read(root)
            if there.track != track:
                raise WorkspaceError(
                    said(
                        f"{root} is a work folder of {there.track}.", f"{root} 是 {there.track} 的学习目录。"
                    ),
                    said(
                        f"Name another one for {track} with --into.",
                        f"请用 --into 为 {track} 另指定一个目录。",
                    ),
                )
            if lang is not None and there.lang != lang:
                raise WorkspaceError(
                    said(
                        f"{root} was made with --lang {there.lang}.",
                        f"{root} 是用 --lang {there.lang} 创建的。",
                    ),
                    said(
                        f"Leave --lang out, or name another folder for {lang} with --into.",
                        f"请去掉 --lang，或用 --into 为 {lang} 另指定一个目录。",
                    ),
                )
            return there
        if root.is_dir() and any(not is_unfinished(each) for each in root.iterdir()):
            raise WorkspaceError(
                said(
                    f"{root} is not empty, and no work folder of flashpath.",
                    f"{root} 不是空目录，也不是 flashpath 的学习目录。",
                ),
                said("Name a new or an empty folder with --into.", "请用 --into 指定一个新的或空的目录。"),
            )
    except OSError as error:
        raise explained(root, error) from None
    return None
