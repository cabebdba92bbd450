"""A progress file into which another program has written: no command ends in a traceback, none is misled."""

from __future__ import annotations

import contextlib
import json
import shutil
import sqlite3
import zlib
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from flashpath.course.state.schema import MIGRATIONS

COMMANDS = (
    ("export",), ("progress",), ("next",), ("log", "--list"), ("review",),
    ("grade", "first/double"), ("hint", "first/double"), ("solution", "first/double"),
    ("reset", "first/double", "--yes"),
)  # fmt: skip
GARBAGE: tuple[Any, ...] = (
    b"\xff\x00garbage", "garbage \x1b[2J\0", "", -1, 2**62, 1e308, float("inf"), "../../../outside", 0.5,
    "9999-99-99", "[1, 2]", '{"goals": [{"counted": null}, 5], "details": 7, "headline": []}',
    zlib.compress(bytes(64 << 20)), "x" * 100_000,
)  # fmt: skip


def _columns() -> Iterator[tuple[str, str]]:
    with sqlite3.connect(":memory:") as db:
        for step in MIGRATIONS:
            db.executescript(step)
        tables = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for table in tables:
            for row in db.execute(f"PRAGMA table_info({table})"):
                yield table, row[1]


COLUMNS = tuple(_columns())


@contextlib.contextmanager
def _writing(file: Path) -> Generator[sqlite3.Connection]:
    """As another program would: committed, and all of it in the one file."""
    with contextlib.closing(sqlite3.connect(file)) as db:
        yield db
        db.commit()
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _used(folder: Any) -> Path:
    """A progress file in which something of everything stands."""
    folder.write("first/double", "right\n")
    folder.run("grade", "first/double")
    folder.write("first/half", "wrong\n")
    folder.run("grade", "first/half")
    folder.run("log", "a race", "--solution", "a barrier", "--learnt", "order")
    folder.run("progress", "--tick", "explain-it")
    folder.run("hint", "first/half")
    folder.run("solution", "first/half", "--give-up")
    folder.run("reset", "first/half", "--yes")
    folder.run("review", "first", typed="1\n32\n1 2 3\nwarp\n")
    file: Path = folder.home / "progress.sqlite3"
    with _writing(file) as db:
        counts = {table: db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table, _ in COLUMNS}
    assert all(counts.values()), counts
    return file


def _run_all(folder: Any, commands: tuple[tuple[str, ...], ...]) -> None:
    for words in commands:
        done = folder.run(*words)
        shown = done.out + done.err
        assert done.code in (0, 1), (words, shown)
        assert "Traceback" not in shown, words
        assert not (folder.root.parent / "outside.md").exists()
        assert words != ("export",) or done.code == 0, shown


@pytest.mark.parametrize("table", list(dict.fromkeys(table for table, _ in COLUMNS)))
def test_garbage_in_one_column(folder: Any, table: str) -> None:
    file = _used(folder)
    good = file.with_suffix(".good")
    shutil.copyfile(file, good)
    for column in (column for each, column in COLUMNS if each == table and column != "id"):
        for garbage in (GARBAGE[0], GARBAGE[5]):
            shutil.copyfile(good, file)
            with _writing(file) as db:
                db.execute(f"UPDATE OR IGNORE {table} SET {column} = ?", (garbage,))
            _run_all(folder, COMMANDS[:5])


@pytest.mark.parametrize("garbage", GARBAGE, ids=[repr(each)[:20] for each in GARBAGE])
def test_garbage_in_a_row_of_each_table(folder: Any, garbage: Any) -> None:
    """What was there is still shown, and that something was left out is told."""
    file = _used(folder)
    with _writing(file) as db:
        for table in dict.fromkeys(table for table, _ in COLUMNS):
            names = [column for each, column in COLUMNS if each == table]
            is_numbered = names[0] == "id"
            values = ", ".join("NULL" if is_numbered and name == "id" else "?1" for name in names)
            db.execute(f"INSERT INTO {table} VALUES ({values})", (garbage,))
        # A verdict and a text of something that passed, which export shows.
        db.execute(
            "INSERT INTO attempts (exercise, at, passed, submission, grade) "
            "VALUES ('first/quiz', 5, 1, 'h', ?)",
            (garbage,),
        )
        db.execute("INSERT INTO passes SELECT 'first/quiz', 5, 5, max(id) FROM attempts")
        db.execute("INSERT INTO submissions VALUES ('h', ?, 3)", (zlib.compress(b"answer"),))
    shown = folder.run("export")
    assert "cannot be read" in shown.err
    assert (folder.root / "portfolio" / "kernels" / "first" / "double.md").exists()
    assert "a race" in (folder.root / "portfolio" / "log.md").read_text(encoding="utf-8")
    assert "无法读取" in folder.run("export", "--lang", "zh").err
    assert json.loads(folder.run("export", "--json").out)["files"]
    _run_all(folder, COMMANDS if garbage is GARBAGE[0] else COMMANDS[:5])
