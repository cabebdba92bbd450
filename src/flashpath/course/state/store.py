"""What a learner has done: attempts with what was tried, passes, hints, ticks, the log, settings."""

from __future__ import annotations

import hashlib
import json
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from flashpath import settings
from flashpath.course.state.database import FILE_NAME, Database
from flashpath.course.state.reviews import Reviews
from flashpath.course.state.rows import (
    is_moment,
    is_name,
    is_number,
    is_text,
    is_whole,
    or_none,
    unpacked,
    verdict,
)
from flashpath.course.state.study import Study, local_day
from flashpath.messages import Message

LARGEST_TEXT = 512 * 1024  # bytes of one file that are kept; kernels and notes are far smaller
_SEEN = "seen:"  # stands in the place of a track: what was seen here holds for all of them
TEXTS_KEPT = 200  # of an exercise: the newest; what passed last, and what a reset replaced, always


@dataclass(frozen=True)
class Attempt:
    """One try at an exercise; `passed` is None where it was interrupted before the verdict."""

    id: int
    exercise: str
    at: float
    passed: bool | None
    reason: str | None
    headline: str | None
    seconds: float | None
    submission: str


@dataclass(frozen=True)
class Pass:
    """An exercise that was passed: when first, when last, and by which attempt."""

    exercise: str
    first_at: float
    last_at: float
    attempt: int | None


@dataclass(frozen=True)
class LogEntry:
    """A problem, its solution, what was learnt from it, and the kernel it is about."""

    id: int
    at: float
    problem: str
    solution: str
    learnt: str
    kernel: str


@dataclass(frozen=True)
class KeptFile:
    """A file that a reset replaced."""

    exercise: str
    at: float
    path: str
    submission: str


_ATTEMPT = (
    is_whole, is_name, is_moment, or_none(is_whole), or_none(is_text), or_none(is_text), or_none(is_number),
    is_text,
)  # fmt: skip


class Store:
    """The progress of one learner on this machine; safe to open from several processes at once."""

    def __init__(self, file: Path | None = None, *, now: Callable[[], float] = time.time) -> None:
        self._db = Database(settings.home_dir() / FILE_NAME if file is None else file)
        self._now = now
        self.reviews = Reviews(self._db, now)
        self.study = Study(self._db, now)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._db.close()

    @property
    def file(self) -> Path:
        return self._db.file

    @property
    def notices(self) -> list[Message]:
        """What happened at opening that the user must know, such as a damaged file put aside."""
        return self._db.notices

    @property
    def left_out(self) -> int:
        """How many rows were asked for that are none: another program has written them."""
        return len(self._db.left_out)

    def today(self) -> str:
        return local_day(self._now())

    # ---- Attempts and passes ---------------------------------------------------------------------------

    def begin_attempt(self, exercise: str, text: str) -> int:
        """Keep what is about to be graded, before it is: an interrupted run loses nothing."""
        with self._db.writing() as db:
            submission = self._keep(text)
            cursor = db.execute(
                "INSERT INTO attempts (exercise, at, submission) VALUES (?, ?, ?)",
                (exercise, self._now(), submission),
            )
            self.study.mark_day()
            assert cursor.lastrowid is not None
            return cursor.lastrowid

    def finish_attempt(
        self,
        attempt: int,
        *,
        passed: bool,
        reason: str | None,
        headline: str,
        seconds: float,
        grade: Any = None,
    ) -> None:
        """The verdict; `grade` is all of it, as JSON can hold it."""
        with self._db.writing() as db:
            db.execute(
                "UPDATE attempts SET passed = ?, reason = ?, headline = ?, seconds = ?, grade = ? "
                "WHERE id = ?",
                (passed, reason, headline, seconds, json.dumps(grade, default=str), attempt),
            )
            (exercise,) = db.execute("SELECT exercise FROM attempts WHERE id = ?", (attempt,)).fetchone()
            if passed:
                self._pass(exercise, attempt)
            self._drop_old_texts(exercise)

    def pass_without_file(self, exercise: str) -> None:
        """A quiz is passed once every question was answered right; no file is behind it."""
        with self._db.writing():
            self._pass(exercise, None)

    def attempts(self, exercise: str | None = None) -> tuple[Attempt, ...]:
        """The oldest first; of one exercise or of all."""
        rows = self._db.read(
            "SELECT id, exercise, at, passed, reason, headline, seconds, submission FROM attempts "
            "WHERE ? IS NULL OR exercise = ? ORDER BY id",
            exercise,
            exercise,
            kinds=_ATTEMPT,
        )
        return tuple(
            Attempt(row[0], row[1], row[2], None if row[3] is None else bool(row[3]), *row[4:])
            for row in rows
        )

    def attempted(self) -> frozenset[str]:
        """The exercises that were tried at least once."""
        rows = self._db.read("SELECT DISTINCT exercise FROM attempts", kinds=(is_name,))
        return frozenset(row[0] for row in rows)

    def passes(self) -> dict[str, Pass]:
        rows = self._db.read(
            "SELECT exercise, first_at, last_at, attempt FROM passes ORDER BY first_at",
            kinds=(is_name, is_moment, is_moment, or_none(is_whole)),
        )
        return {row[0]: Pass(*row) for row in rows}

    def grade_of(self, attempt: int) -> dict[str, Any] | None:
        """All of an attempt's verdict, as it was given to `finish_attempt`; None where there is none."""
        rows = self._db.read("SELECT grade FROM attempts WHERE id = ?", attempt)
        return verdict(rows[0][0]) if rows else None

    def text_of(self, submission: str) -> str | None:
        """The text that was tried; None where it was too old to be kept."""
        rows = self._db.read("SELECT text FROM submissions WHERE hash = ?", submission)
        return unpacked(rows[0][0], 3 * LARGEST_TEXT) if rows else None

    def text_of_attempt(self, attempt: int) -> str | None:
        rows = self._db.read("SELECT submission FROM attempts WHERE id = ?", attempt)
        return self.text_of(rows[0][0]) if rows else None

    def _pass(self, exercise: str, attempt: int | None) -> None:
        now = self._now()
        with self._db.writing() as db:
            db.execute(
                "INSERT INTO passes (exercise, first_at, last_at, attempt) VALUES (?, ?, ?, ?) ON CONFLICT "
                "(exercise) DO UPDATE SET last_at = excluded.last_at, attempt = excluded.attempt",
                (exercise, now, now, attempt),
            )
            self.study.mark_day()

    def _keep(self, text: str) -> str:
        data = text.encode("utf-8", "surrogateescape")
        name = hashlib.sha256(data).hexdigest()
        kept = data[:LARGEST_TEXT].decode("utf-8", "replace").encode()
        with self._db.writing() as db:
            db.execute(
                "INSERT OR IGNORE INTO submissions (hash, text, bytes) VALUES (?, ?, ?)",
                (name, zlib.compress(kept), len(data)),
            )
        return name

    def _drop_old_texts(self, exercise: str) -> None:
        with self._db.writing() as db:
            db.execute(
                """
                DELETE FROM submissions WHERE hash IN (
                    SELECT submission FROM attempts WHERE exercise = ?1
                    GROUP BY submission ORDER BY max(id) DESC LIMIT -1 OFFSET ?2)
                AND hash NOT IN (SELECT submission FROM kept_files)
                AND hash NOT IN (
                    SELECT submission FROM attempts JOIN passes ON passes.attempt = attempts.id)
                AND hash NOT IN (SELECT submission FROM attempts WHERE exercise <> ?1)
                """,
                (exercise, TEXTS_KEPT),
            )

    # ---- Hints, solutions, resets ----------------------------------------------------------------------

    def hints_seen(self, exercise: str) -> int:
        return self._db.read("SELECT count(*) FROM hints WHERE exercise = ?", exercise)[0][0]

    def see_hint(self, exercise: str, number: int) -> None:
        with self._db.writing() as db:
            db.execute("INSERT OR IGNORE INTO hints VALUES (?, ?, ?)", (exercise, number, self._now()))

    def give_up(self, exercise: str) -> None:
        with self._db.writing() as db:
            db.execute("INSERT OR IGNORE INTO given_up VALUES (?, ?)", (exercise, self._now()))

    def given_up(self) -> frozenset[str]:
        return frozenset(row[0] for row in self._db.read("SELECT exercise FROM given_up", kinds=(is_name,)))

    def keep_file(self, exercise: str, path: Path, text: str) -> None:
        """What a reset is about to replace."""
        with self._db.writing() as db:
            submission = self._keep(text)
            db.execute(
                "INSERT INTO kept_files (exercise, at, path, submission) VALUES (?, ?, ?, ?)",
                (exercise, self._now(), str(path), submission),
            )

    def kept_files(self, exercise: str) -> tuple[KeptFile, ...]:
        rows = self._db.read(
            "SELECT exercise, at, path, submission FROM kept_files WHERE exercise = ? ORDER BY id",
            exercise,
            kinds=(is_name, is_moment, is_text, is_text),
        )
        return tuple(KeptFile(*row) for row in rows)

    # ---- Ticks -----------------------------------------------------------------------------------------

    def tick(self, track: str, item: str) -> None:
        """Mark a task or checkpoint as done; of a unit's checkpoint the track is empty."""
        with self._db.writing() as db:
            db.execute("INSERT OR IGNORE INTO ticks VALUES (?, ?, ?)", (track, item, self._now()))
            self.study.mark_day()

    def untick(self, track: str, item: str) -> None:
        with self._db.writing() as db:
            db.execute("DELETE FROM ticks WHERE track = ? AND item = ?", (track, item))

    def ticks(self, track: str) -> frozenset[str]:
        rows = self._db.read("SELECT item FROM ticks WHERE track = ?", track, kinds=(is_name,))
        return frozenset(row[0] for row in rows)

    # ---- What the machine saw --------------------------------------------------------------------------

    def see(self, name: str) -> None:
        """Keeps that something was seen: a part of the environment, a program that ended well."""
        self.tick(_SEEN, name)

    def seen(self) -> frozenset[str]:
        rows = self._db.read("SELECT item FROM ticks WHERE track = ?", _SEEN, kinds=(is_text,))
        return frozenset(row[0] for row in rows)

    # ---- The log ---------------------------------------------------------------------------------------

    def add_log(self, problem: str, *, solution: str = "", learnt: str = "", kernel: str = "") -> int:
        with self._db.writing() as db:
            cursor = db.execute(
                "INSERT INTO log (at, problem, solution, learnt, kernel) VALUES (?, ?, ?, ?, ?)",
                (self._now(), problem, solution, learnt, kernel),
            )
            self.study.mark_day()
            assert cursor.lastrowid is not None
            return cursor.lastrowid

    def log(self) -> tuple[LogEntry, ...]:
        rows = self._db.read(
            "SELECT id, at, problem, solution, learnt, kernel FROM log ORDER BY id",
            kinds=(is_whole, is_moment, is_text, is_text, is_text, is_text),
        )
        return tuple(LogEntry(*row) for row in rows)

    # ---- Settings --------------------------------------------------------------------------------------

    def setting(self, name: str) -> str | None:
        """`track`, `language`, `work_folder`."""
        rows = self._db.read("SELECT value FROM settings WHERE name = ?", name, kinds=(is_text,))
        return rows[0][0] if rows else None

    def set(self, name: str, value: str) -> None:
        if self.setting(name) == value:  # most commands: nothing new, so nothing is written
            return
        with self._db.writing() as db:
            db.execute("INSERT OR REPLACE INTO settings VALUES (?, ?)", (name, value))
