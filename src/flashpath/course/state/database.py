"""The progress file as SQLite: opened by several processes, upgraded, never lost.

Every write is one short transaction (`BEGIN IMMEDIATE`, then `COMMIT`), so a process may be killed at any
time: the next one to open the file finds everything committed and nothing half done. The file is in WAL mode
with `synchronous=FULL`: WAL lets others read during a write, and FULL puts each commit on the disk before the
command says that it is saved, so that a power cut takes nothing either. It costs milliseconds, and a person
writes rarely.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sqlite3
import sys
import time
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

from flashpath import settings
from flashpath.course.state.rows import Kind
from flashpath.course.state.schema import APPLICATION_ID, MIGRATIONS
from flashpath.errors import FlashpathError
from flashpath.messages import Message

FILE_NAME = "progress.sqlite3"
BUSY_SECONDS = 5.0
_BUSY_AGAIN_SECONDS = 0.2  # once one wait was in vain, a command is not held up again and again
_BACKUPS_KEPT = 5
# A file of this size is looked through in some milliseconds at every start; a larger one only after a command
# has found it damaged.
_CHECKED_BYTES = 8 * 2**20


class StoreError(FlashpathError):
    """Progress cannot be read or kept."""


class _Damaged(Exception):
    """The file is no SQLite file, or its pages contradict each other."""


class Database:
    """One connection to the progress file. `notices` holds what the user is to be told once."""

    def __init__(
        self,
        file: Path,
        *,
        migrations: Sequence[str] = MIGRATIONS,
        busy_seconds: float = BUSY_SECONDS,
    ) -> None:
        self.file = file
        self.notices: list[Message] = []
        self.left_out: set[tuple[str, ...]] = set()  # rows that somebody else must have written
        self._migrations = migrations
        self._busy_seconds = busy_seconds
        self._has_waited = False
        self._connection = self._open()

    def read(self, sql: str, *values: Any, kinds: Sequence[Kind] = ()) -> list[Any]:
        """The rows of a query as tuples; those with a value that is not of its column's kind are left out."""
        with self._in_words():
            rows = self._connection.execute(sql, values).fetchall()
        return [row for row in rows if self.is_sound(row, kinds)]

    def is_sound(self, row: Sequence[object], kinds: Sequence[Kind]) -> bool:
        """Whether the values of a row are of these kinds; where not, it is told at the end."""
        sound = all(kind(value) for kind, value in zip(kinds, row, strict=False))
        if not sound:
            self.left_out.add((*map(repr, row),))
        return sound

    @contextlib.contextmanager
    def writing(self) -> Generator[sqlite3.Connection]:
        """All or nothing: committed at the end, undone by an exception, Ctrl-C included."""
        with self._in_words():
            if self._connection.in_transaction:  # a part of a larger one
                yield self._connection
                return
            self._begin()
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                with contextlib.suppress(sqlite3.Error):
                    self._connection.execute("ROLLBACK")
                raise

    def _begin(self) -> None:
        """Wait for other writers, in full once only: a command writes several times."""
        seconds = _BUSY_AGAIN_SECONDS if self._has_waited else self._busy_seconds
        self._connection.execute(f"PRAGMA busy_timeout = {round(seconds * 1000)}")
        try:
            self._connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            self._has_waited = self._has_waited or _trouble(error) == "busy"
            raise
        self._has_waited = False

    def close(self) -> None:
        with contextlib.suppress(sqlite3.Error):
            self._connection.close()

    @property
    def _suspect(self) -> Path:
        """Is there where a command found the file damaged: the next one looks through all of it."""
        return self.file.with_suffix(".suspect")

    # ---- Opening ---------------------------------------------------------------------------------------

    def _open(self) -> sqlite3.Connection:
        with self._in_words():
            self.file.parent.mkdir(parents=True, exist_ok=True)
            try:
                connection = self._connect()
                if self._version(connection) == len(self._migrations):
                    return connection
                connection.close()
            except _Damaged:
                pass
            # Made, upgraded or replaced: by one process at a time.
            with _alone(self.file.with_suffix(".lock")):
                try:
                    connection = self._connect()
                except _Damaged as why:
                    self._move_aside(str(why))
                    connection = self._connect()
                self._upgrade(connection)
                return connection

    def _connect(self) -> sqlite3.Connection:
        # isolation_level=None: transactions are begun by us, so that their kind is ours to choose.
        connection = sqlite3.connect(self.file, timeout=self._busy_seconds, isolation_level=None)
        try:
            connection.text_factory = _text
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            if self.file.stat().st_size <= _CHECKED_BYTES or self._suspect.exists():
                found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
                if found != "ok":
                    raise _Damaged(found)
                self._suspect.unlink(missing_ok=True)
        except sqlite3.DatabaseError as error:
            connection.close()
            if _trouble(error) == "damaged":
                raise _Damaged(str(error)) from None
            raise
        except BaseException:
            connection.close()
            raise
        return connection

    def _version(self, connection: sqlite3.Connection) -> int:
        """The file's version, once it is known to be ours to read; 0: nothing is in it yet."""
        version: int = connection.execute("PRAGMA user_version").fetchone()[0]
        owner: int = connection.execute("PRAGMA application_id").fetchone()[0]
        tables: int = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if owner != APPLICATION_ID and (tables or version):
            connection.close()
            raise StoreError("course.state.not-ours", file=self.file, variable=settings.HOME.name)
        if version > len(self._migrations):
            connection.close()
            raise StoreError(
                "course.state.newer", file=self.file, version=version, known=len(self._migrations)
            )
        return version

    def _upgrade(self, connection: sqlite3.Connection) -> None:
        version = self._version(connection)  # another process may have upgraded it meanwhile
        if version == len(self._migrations):
            return
        if version:
            self._back_up(connection, version)
        else:
            # Kept in the file. Where the file system has no shared memory, SQLite stays with its old journal.
            connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("BEGIN IMMEDIATE")
        try:
            for step in self._migrations[version:]:
                for statement in _statements(step):
                    connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {len(self._migrations)}")
            connection.execute("COMMIT")
        except BaseException:
            with contextlib.suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            connection.close()
            raise

    def _back_up(self, connection: sqlite3.Connection, version: int) -> None:
        """A whole copy beside the file before its format changes; the newest few are kept."""
        stem = f"{self.file.stem}.before-format-{len(self._migrations)}"
        copy = _free(self.file.with_name(f"{stem}.from-{version}.{_stamp()}{self.file.suffix}"))
        unfinished = copy.with_suffix(".part")
        target = sqlite3.connect(unfinished)
        try:
            connection.backup(target)
        finally:
            target.close()
        unfinished.replace(copy)
        older = sorted(self.file.parent.glob(f"{self.file.stem}.before-format-*{self.file.suffix}"))
        for each in sorted(older, key=lambda path: path.stat().st_mtime)[:-_BACKUPS_KEPT]:
            each.unlink(missing_ok=True)

    def _move_aside(self, why: str) -> None:
        """A damaged file is kept, with its journal, under another name."""
        aside = _free(self.file.with_name(f"{self.file.stem}.damaged.{_stamp()}{self.file.suffix}"))
        self.file.rename(aside)
        self._suspect.unlink(missing_ok=True)
        for ending in ("-wal", "-shm"):
            part = self.file.with_name(self.file.name + ending)
            if part.exists():
                part.rename(aside.with_name(aside.name + ending))
        self.notices.append(Message("course.state.moved-aside", {"why": why, "aside": aside}))

    @contextlib.contextmanager
    def _in_words(self) -> Generator[None]:
        """What SQLite and the file system say, as words that tell what to do."""
        try:
            yield
        except sqlite3.Error as error:
            raise self._words(str(error), _trouble(error)) from None
        except OSError as error:
            full = error.errno in (errno.ENOSPC, errno.EDQUOT)
            raise self._words(error.strerror or str(error), "full" if full else "unwritable") from None

    def _words(self, what: str, trouble: str) -> StoreError:
        file, home = self.file, settings.HOME.name
        match trouble:
            case "damaged":
                with contextlib.suppress(OSError):
                    self._suspect.touch()
                return StoreError("course.state.damaged", file=file, what=what)
            case "unwritable":
                return StoreError(
                    "course.state.unwritable", file=file, what=what, folder=file.parent, variable=home
                )
            case "full":
                return StoreError("course.state.full", file=file, what=what, variable=home)
            case "busy":
                return StoreError("course.state.busy", file=file, seconds=self._busy_seconds)
            case _:
                return StoreError("course.state.unusable", file=file, what=what, variable=home)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


_TROUBLES = {
    sqlite3.SQLITE_CORRUPT: "damaged",
    sqlite3.SQLITE_NOTADB: "damaged",
    sqlite3.SQLITE_READONLY: "unwritable",
    sqlite3.SQLITE_CANTOPEN: "unwritable",
    sqlite3.SQLITE_PERM: "unwritable",
    sqlite3.SQLITE_FULL: "full",
    sqlite3.SQLITE_IOERR: "full",  # a write that the disk or a limit cut short
    sqlite3.SQLITE_BUSY: "busy",
    sqlite3.SQLITE_LOCKED: "busy",
}


def _trouble(error: sqlite3.Error) -> str:
    return _TROUBLES.get(getattr(error, "sqlite_errorcode", 0) & 0xFF, "other")


@contextlib.contextmanager
def _alone(lock: Path) -> Generator[None]:
    """Held by one process at a time; given back by the system when the process ends, however it ends."""
    if sys.platform == "win32":
        yield
        return
    import fcntl

    handle = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _statements(script: str) -> list[str]:
    """The statements of a migration, which run in one transaction; `executescript` would commit it."""
    statements: list[str] = []
    text = ""
    for line in script.splitlines(keepends=True):
        text += line
        if sqlite3.complete_statement(text):
            statements.append(text)
            text = ""
    if text.strip():
        statements.append(text)
    return statements


def _stamp() -> str:
    return time.strftime("%Y%m%d-%H%M%S")


def _free(path: Path) -> Path:
    """The path, or one like it that is not taken: nothing is overwritten."""
    number = 1
    free = path
    while free.exists():
        number += 1
        free = path.with_name(f"{path.stem}-{number}{path.suffix}")
    return free
