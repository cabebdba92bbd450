"""Who learns here: the progress file, the work folder, the track and the language that commands share."""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import tempfile
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from flashpath import settings
from flashpath.course.content.text import kind_name
from flashpath.course.state import Store, StoreError
from flashpath.course.state.database import FILE_NAME
from flashpath.errors import FlashpathError
from flashpath.messages import Message, speaking

if TYPE_CHECKING:
    from flashpath.course.content import Course, Exercise, ProblemSet, Track
    from flashpath.course.state.progress import Progress
    from flashpath.course.workspace import Workspace

Warn = Callable[[Message | FlashpathError], None]
"""Tells the learner of something that did not stop what was asked for."""


class Learner:
    """Opened by `learning()`; parts that a command does not ask for are not loaded."""

    def __init__(self, store: Store, workspace: Workspace | None, lang: str, warn: Warn) -> None:
        self.store = store
        self.workspace = workspace
        self.lang = lang
        self.warn = warn

    def kind(self, exercise: Exercise) -> str:
        """Returns the exercise's kind in the learner's language."""
        return kind_name(exercise.kind, self.lang)

    @functools.cached_property
    def course(self) -> Course:
        from flashpath.course.content import load_course

        return load_course()

    @property
    def folder(self) -> Workspace:
        """The work folder; an error with words where there is none."""
        if self.workspace is None:
            raise FlashpathError("course.no-work-folder")
        return self.workspace

    @functools.cached_property
    def track(self) -> Track:
        """That of the work folder, or the last one used."""
        name = self.workspace.track if self.workspace is not None else self.store.setting("track")
        if name is None:
            raise FlashpathError("course.no-track", names=self.course.track_names)
        return self.course.track(name)

    def progress(self, track: Track | None = None) -> Progress:
        """As it is now."""
        from flashpath.course.learner.notes import written_notes
        from flashpath.course.state.progress import Progress

        notes = () if self.workspace is None else written_notes(self.workspace)
        return Progress(self.course, track or self.track, self.store, notes)

    def shown(self, path: Path) -> str:
        """A path as short as it can be typed here."""
        with contextlib.suppress(ValueError, OSError):
            return str(path.relative_to(Path.cwd()))
        return str(path)

    # ---- Which exercise --------------------------------------------------------------------------------

    def find(self, what: str | None) -> tuple[Exercise, Path]:
        """An exercise and its file: named, by the file or its folder, or the one last touched."""
        if what is None:
            return self._last_touched()
        path = settings.expanded(what)
        if path.is_file():
            return self.course.exercise(self._exercise_of(path)), path
        exercise = self.exercise(what)
        return exercise, self.file_of(exercise)

    def exercise(self, what: str | None) -> Exercise:
        """As `find`, where the file does not matter."""
        if what is None or settings.expanded(what).is_file():
            return self.find(what)[0]
        return self._named(what)

    def _named(self, what: str) -> Exercise:
        """The exercise of that name, or in that folder. A path of no file is told as such, not as a name that
        nobody knows."""
        path = settings.expanded(what)
        if path.is_dir():
            with contextlib.suppress(FlashpathError):  # a folder may be called as an exercise is
                return self.course.exercise(what)
            return self.course.exercise(self._exercise_in(path))
        is_path = path.suffix or path.is_absolute() or what.startswith(".") or len(path.parts) > 2
        if not is_path:
            return self.course.exercise(what)
        name = self._answered_in(path)
        if name is None:
            raise FlashpathError("course.no-file", file=what)
        raise FlashpathError("course.no-answer-file", path=what, exercise=name)

    def problem_set(self, what: str | None) -> ProblemSet | None:
        """The set that is called so: `exercises/01`, its page, its answers, its id; None for other names."""
        from flashpath.course.workspace.sets import number_in, set_name

        if what is None:
            return None
        name = what.strip().rstrip("/\\")
        number = number_in(name)
        if number is None and Path(name).name != name:
            return None
        try:
            sets = self.track.problem_sets
        except FlashpathError:  # no track: then there is no set either
            return None
        found = next((each for each in sets if each.number == number or each.id == name), None)
        if found is None and number is not None and sets and not settings.expanded(what).exists():
            raise FlashpathError("course.no-problem-set", name=what, known=[set_name(each) for each in sets])
        return found

    def file_of(self, exercise: Exercise) -> Path:
        """Where the learner's answer lies."""
        return self.folder.file(exercise.id)

    def files(self) -> dict[str, Path]:
        """The exercises of the track that are answered in a file, in order."""
        from flashpath.course.state.progress import exercises_of

        found: dict[str, Path] = {}
        for name in exercises_of(self.course, self.track):
            with contextlib.suppress(FlashpathError):  # a unit that came after the folder was made
                found[name] = self.folder.file(name)
        return found

    def is_begun(self, exercise: Exercise, path: Path) -> bool:
        """Whether the file says anything that its beginning did not."""
        try:
            return path.read_text(encoding="utf-8", errors="surrogateescape") != self.beginning(exercise)
        except OSError:
            return False

    def begun(self) -> Iterator[tuple[Exercise, Path]]:
        """Yields the exercises of the track whose files were changed, and the files."""
        for name, path in self.files().items():
            exercise = self.course.exercise(name)
            if self.is_begun(exercise, path):
                yield exercise, path

    def beginning(self, exercise: Exercise) -> str:
        """Returns what the file of an answer begins with, in the language of the work folder."""
        from flashpath.course.workspace.beginnings import beginning

        return beginning(exercise, self.lang if self.workspace is None else self.workspace.lang)

    def _exercise_of(self, path: Path) -> str:
        if name := self._answered_in(path):
            return name
        raise FlashpathError("course.not-an-exercise", path=path, root=self.folder.root)

    def _answered_in(self, path: Path) -> str | None:
        """The exercise whose file that is, whether it is there or not."""
        wanted = path.resolve()
        return next((name for name, each in self.files().items() if each.resolve() == wanted), None)

    def _exercise_in(self, folder: Path) -> str:
        """The one whose file lies in the folder."""
        wanted = folder.resolve()
        files = {name: path.resolve() for name, path in self.files().items()}
        here = [name for name, path in files.items() if path.parent == wanted]
        if len(here) == 1:
            return here[0]
        within = here or [name for name, path in files.items() if path.is_relative_to(wanted)]
        if not within:
            raise FlashpathError("course.no-exercise-in-folder", folder=folder, root=self.folder.root)
        names = ", ".join(within[:6]) + (" …" if len(within) > 6 else "")
        raise FlashpathError("course.several-exercises", folder=folder, count=len(within), names=names)

    def _last_touched(self) -> tuple[Exercise, Path]:
        files = {name: path for name, path in self.files().items() if path.is_file()}
        for name in sorted(files, key=lambda each: files[each].stat().st_mtime_ns, reverse=True):
            exercise = self.course.exercise(name)
            if self.is_begun(exercise, files[name]):
                return exercise, files[name]
        name = self.progress().next_exercise()
        if name is None or name not in files:
            raise FlashpathError("course.nothing-begun")
        return self.course.exercise(name), files[name]


@contextlib.contextmanager
def learning(
    lang: str | None, warn: Warn, *, must_keep: bool = True, must_show: bool = True
) -> Generator[Learner]:
    """Opens the learner, with this use of a command counted as study time.

    Where progress cannot be kept, a command that only shows it (`must_keep=False`) warns and goes on; one
    that needs none (`must_show=False`) also where progress cannot be read.
    """
    from flashpath.course.workspace import Workspace

    with contextlib.ExitStack() as stack:
        stack.enter_context(speaking(_language_here(lang)))
        try:
            store = stack.enter_context(Store())
            workspace = Workspace.find()
        except StoreError as error:
            if must_keep:
                raise
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            copy = _copied_store(folder)
            if copy is None and must_show:
                raise
            warn(error)
            store = stack.enter_context(copy or Store(folder / "empty.sqlite3"))
            workspace = Workspace.around() or _last_used(store)
        for notice in store.notices:
            warn(notice)
        chosen = _language(lang, workspace)
        stack.enter_context(speaking(chosen))
        _count_as_study(store, workspace)
        yield Learner(store, workspace, chosen, warn)
        if store.left_out:
            warn(Message("course.state.left-out", {"count": store.left_out, "file": store.file}))


def _copied_store(folder: Path) -> Store | None:
    """Opens a copy of the progress file, so that it is shown though nothing new can be kept."""
    kept = settings.home_dir() / FILE_NAME
    copy = folder / FILE_NAME
    try:
        shutil.copyfile(kept, copy)
        journal = kept.with_name(f"{kept.name}-wal")
        if journal.exists():
            shutil.copyfile(journal, copy.with_name(f"{copy.name}-wal"))
        return Store(copy)
    except (OSError, StoreError):
        return None


def _last_used(store: Store) -> Workspace | None:
    from flashpath.course.workspace import Workspace

    place = store.setting("work_folder")
    return Workspace.at(Path(place)) if place is not None else None


def _count_as_study(store: Store, workspace: Workspace | None) -> None:
    with contextlib.suppress(StoreError):  # a command that only reads can do without
        if workspace is not None:
            remember(store, workspace)
        store.study.touch((workspace.track if workspace else store.setting("track")) or "")


def remember(store: Store, workspace: Workspace) -> None:
    """Keeps which folder was used last: commands that are run elsewhere find it."""
    store.set("work_folder", str(workspace.root))
    store.set("track", workspace.track)
    store.set("language", workspace.lang)


def _language_here(wanted: str | None) -> str:
    """The language before anything is opened: whatever cannot be opened is told in it."""
    from flashpath.course.workspace import marker

    if wanted is None and not os.environ.get(settings.LANG.name):
        with contextlib.suppress(OSError):
            here = Path.cwd().resolve()
            for folder in (here, *here.parents):
                if (folder / marker.NAME).is_file():
                    return marker.language_of((folder / marker.NAME).read_bytes()) or settings.language()
    return settings.language(wanted)


def _language(wanted: str | None, workspace: Workspace | None) -> str:
    """The one named, else the variable's, else the work folder's, else the locale's."""
    if wanted is not None or os.environ.get(settings.LANG.name):
        return settings.language(wanted)
    return workspace.lang if workspace is not None else settings.language()
