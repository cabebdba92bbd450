"""Who learns here: the progress file, the work folder, the track and the language that commands share."""

from __future__ import annotations

import contextlib
import functools
import os
import tempfile
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING

from flashpath import settings
from flashpath.cli.failures import tell
from flashpath.course.speech import speaking
from flashpath.course.state import Store, StoreError
from flashpath.errors import FlashpathError

if TYPE_CHECKING:
    from flashpath.course.content import Course, Exercise, Track
    from flashpath.course.state.progress import Progress
    from flashpath.course.workspace import Workspace


_KINDS = {
    "kernel": "核函数", "debug": "调试", "predict": "预测", "derive": "推导",
    "note": "笔记", "read": "源码阅读", "report": "报告", "quiz": "测验",
}  # fmt: skip


class Learner:
    """Opened by `learning()`; parts that a command does not ask for are not loaded."""

    def __init__(self, store: Store, workspace: Workspace | None, lang: str) -> None:
        self.store = store
        self.workspace = workspace
        self.lang = lang

    def say(self, en: str, zh: str) -> str:
        """The text in the learner's language."""
        return zh if self.lang == "zh" else en

    def kind(self, exercise: Exercise) -> str:
        return self.say(exercise.kind, _KINDS.get(exercise.kind, exercise.kind))

    @functools.cached_property
    def course(self) -> Course:
        from flashpath.course.content import load_course

        return load_course()

    @property
    def folder(self) -> Workspace:
        """The work folder; an error with words where there is none."""
        if self.workspace is None:
            raise FlashpathError(
                self.say("There is no work folder here.", "这里没有学习目录。"),
                self.say(
                    "Make one with `flashpath start TRACK`, or change into the one you made.",
                    "请用 `flashpath start TRACK` 创建，或进入已经创建的目录。",
                ),
            )
        return self.workspace

    @functools.cached_property
    def track(self) -> Track:
        """That of the work folder, or the last one used."""
        name = self.workspace.track if self.workspace is not None else self.store.setting("track")
        if name is None:
            raise FlashpathError(
                self.say("No track was begun.", "还没有开始任何学习路线。"),
                self.say(
                    f"Begin one: flashpath start TRACK. There are {', '.join(self.course.track_names)}.",
                    f"请先开始一条：flashpath start TRACK。可选：{'、'.join(self.course.track_names)}。",
                ),
            )
        return self.course.track(name)

    def progress(self, track: Track | None = None) -> Progress:
        """As it is now."""
        from flashpath.cli.learning.notes import written_notes
        from flashpath.course.state.progress import Progress

        notes = () if self.workspace is None else written_notes(self.workspace.root)
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
        path = Path(what).expanduser()
        if path.is_file():
            return self.course.exercise(self._exercise_of(path)), path
        exercise = self.exercise(what)
        return exercise, self.file_of(exercise)

    def exercise(self, what: str | None) -> Exercise:
        """As `find`, where the file does not matter."""
        if what is None or Path(what).expanduser().is_file():
            return self.find(what)[0]
        return self._named(what)

    def _named(self, what: str) -> Exercise:
        """The exercise of that name, or in that folder. A path of no file is told as such, not as a name that
        nobody knows."""
        path = Path(what).expanduser()
        if path.is_dir():
            with contextlib.suppress(FlashpathError):  # a folder may be called as an exercise is
                return self.course.exercise(what)
            return self.course.exercise(self._exercise_in(path))
        is_path = path.suffix or path.is_absolute() or what.startswith(".") or len(path.parts) > 2
        if not is_path:
            return self.course.exercise(what)
        began = f"flashpath reset {name}" if (name := self._answered_in(path)) else None
        raise FlashpathError(
            self.say(f"There is no file {what}.", f"找不到文件 {what}。"),
            self.say(f"Begin it: {began}", f"重新生成：{began}")
            if began
            else self.say(
                "Name an exercise, such as first-kernel/saxpy, or a file that is there.",
                "请给出练习的名称（如 first-kernel/saxpy），或一个存在的文件。",
            ),
        )

    def file_of(self, exercise: Exercise) -> Path:
        """Where the learner's answer lies."""
        return self.folder.file(exercise.id)

    def files(self) -> dict[str, Path]:
        """The exercises of the track that are answered in a file, in order."""
        found: dict[str, Path] = {}
        for name in self.progress().exercises():
            with contextlib.suppress(FlashpathError):  # a unit that came after the folder was made
                found[name] = self.folder.file(name)
        return found

    def is_begun(self, exercise: Exercise, path: Path) -> bool:
        """Whether the file says anything that its beginning did not."""
        from flashpath.course.workspace.beginnings import beginning

        try:
            return path.read_text(encoding="utf-8", errors="surrogateescape") != beginning(
                exercise, self.lang
            )
        except OSError:
            return False

    def _exercise_of(self, path: Path) -> str:
        if name := self._answered_in(path):
            return name
        raise FlashpathError(
            self.say(
                f"{path} is not the file of an exercise of {self.folder.root}.",
                f"{path} 不是 {self.folder.root} 中任何练习的文件。",
            ),
            self.say(
                "Name the exercise and the file: flashpath grade EXERCISE --file FILE.",
                "请同时给出练习和文件：flashpath grade EXERCISE --file FILE。",
            ),
        )

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
            raise FlashpathError(
                self.say(
                    f"{folder} is a folder without an exercise of {self.folder.root}.",
                    f"目录 {folder} 中没有 {self.folder.root} 的练习。",
                ),
                self.say(
                    "Name an exercise, its file or its folder; `flashpath next` names one.",
                    "请给出练习、它的文件或目录；`flashpath next` 会给出一个。",
                ),
            )
        shown = ", ".join(within[:6]) + (" …" if len(within) > 6 else "")
        raise FlashpathError(
            self.say(
                f"{folder} holds {len(within)} exercises.", f"目录 {folder} 中有 {len(within)} 个练习。"
            ),
            self.say(f"Name one: {shown}", f"请指定一个：{shown}"),
        )

    def _last_touched(self) -> tuple[Exercise, Path]:
        files = {name: path for name, path in self.files().items() if path.is_file()}
        for name in sorted(files, key=lambda each: files[each].stat().st_mtime_ns, reverse=True):
            exercise = self.course.exercise(name)
            if self.is_begun(exercise, files[name]):
                return exercise, files[name]
        name = self.progress().next_exercise()
        if name is None or name not in files:
            raise FlashpathError(
                self.say("No exercise was begun yet.", "还没有开始任何练习。"),
                self.say("Name one, or see `flashpath next`.", "请指定一个练习，或运行 `flashpath next`。"),
            )
        return self.course.exercise(name), files[name]


@contextlib.contextmanager
def learning(lang: str | None = None, *, must_keep: bool = True) -> Generator[Learner]:
    """The learner, with this use of a command counted as study time.

    Where progress cannot be kept, a command that is of use without it (`must_keep=False`) warns and goes on.
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
            tell(f"warning: {error}")
            place = stack.enter_context(tempfile.TemporaryDirectory())
            store = stack.enter_context(Store(Path(place) / "forgotten.sqlite3"))
            workspace = Workspace.around()
        for each in store.notices:
            tell(f"warning: {each}")
        learner = Learner(store, workspace, _language(lang, workspace))
        stack.enter_context(speaking(learner.lang))
        with contextlib.suppress(StoreError):  # a command that only reads can do without
            if workspace is not None:
                store.set("work_folder", str(workspace.root))
                store.set("track", workspace.track)
                store.set("language", workspace.lang)
            store.study.touch((workspace.track if workspace else store.setting("track")) or "")
        yield learner


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
