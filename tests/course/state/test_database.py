"""The progress file: several processes, upgrades, damage, a full disk, and processes that are killed."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from flashpath.course.state import database as database_module
from flashpath.course.state.database import BUSY_SECONDS, Database, StoreError
from flashpath.course.state.schema import APPLICATION_ID, MIGRATIONS
from flashpath.course.state.store import Store

VERSION_1 = Path(__file__).parent / "version-1.sql"
NEXT = (*MIGRATIONS, "CREATE TABLE badges (name TEXT);\nALTER TABLE log ADD COLUMN stars INTEGER;")


def version_1_file(folder: Path) -> Path:
    """As the first version wrote it."""
    file = folder / "progress.sqlite3"
    db = sqlite3.connect(file)
    db.executescript(VERSION_1.read_text(encoding="utf-8"))
    db.close()
    return file


def test_a_file_of_version_1_opens_in_this_version(tmp_path: Path) -> None:
    with Store(version_1_file(tmp_path)) as store:
        assert [each.exercise for each in store.attempts()] == ["first-kernel/saxpy", "first-kernel/saxpy"]
        assert store.passes()["first-kernel/saxpy"].attempt == 2
        assert store.text_of_attempt(2) == "// 第二次\n"
        assert store.ticks("dl-research") == {"read-guide"}
        assert store.log()[0].problem == "竞争"
        assert store.reviews.all()["first-kernel/who"].box == 2
        assert store.setting("track") == "dl-research"


def test_an_upgrade_keeps_everything_and_makes_a_copy_first(tmp_path: Path) -> None:
    file = version_1_file(tmp_path)
    database = Database(file, migrations=NEXT)
    assert database.read("PRAGMA user_version") == [(len(NEXT),)]
    assert database.read("SELECT problem, stars FROM log") == [("竞争", None)]
    database.close()
    (copy,) = tmp_path.glob("progress.before-format-*.sqlite3")
    with Store(copy) as before:
        assert before.log()[0].problem == "竞争"


def test_an_upgrade_that_fails_changes_nothing(tmp_path: Path) -> None:
    file = version_1_file(tmp_path)
    for _ in range(2):
        with pytest.raises(StoreError, match="cannot be used"):
            Database(file, migrations=(*MIGRATIONS, "CREATE TABLE badges (name TEXT); CREATE NONSENSE;"))
    with Store(file) as store:
        assert store.log()[0].problem == "竞争"


def test_old_copies_do_not_pile_up(tmp_path: Path) -> None:
    for _ in range(7):
        file = version_1_file(tmp_path)
        Database(file, migrations=NEXT).close()
        file.unlink()
    assert len(list(tmp_path.glob("progress.before-format-*.sqlite3"))) == 5


def test_a_newer_file_is_refused_with_words_and_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "progress.sqlite3"
    Database(file, migrations=NEXT).close()
    before = file.read_bytes()
    with pytest.raises(StoreError, match="newer flashpath") as caught:
        Store(file)
    assert "pip install --upgrade" in str(caught.value)
    assert file.read_bytes() == before


def test_another_programs_database_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "progress.sqlite3"
    db = sqlite3.connect(file)
    db.execute("CREATE TABLE theirs (x)")
    db.commit()
    db.close()
    with pytest.raises(StoreError, match="not flashpath's"):
        Store(file)


@pytest.mark.parametrize("damage", ["not-a-database", "cut", "scribbled"])
def test_a_damaged_file_is_put_aside_and_a_new_one_begun(tmp_path: Path, damage: str) -> None:
    file = tmp_path / "progress.sqlite3"
    with Store(file) as store:
        for number in range(200):
            store.add_log(f"problem {number} " + "x" * 100)
    whole = file.read_bytes()
    if damage == "not-a-database":
        file.write_bytes(b"no database at all" * 100)
    elif damage == "cut":
        file.write_bytes(whole[: len(whole) // 2 + 100])
    else:
        file.write_bytes(whole[:4096] + b"\xff" * 8192 + whole[3 * 4096 :])
    damaged = file.read_bytes()
    with Store(file) as store:
        assert len(store.notices) == 1
        assert "damaged" in store.notices[0].text("en")
        assert store.log() == ()
        store.add_log("it goes on")
    (aside,) = tmp_path.glob("progress.damaged.*.sqlite3")
    assert aside.read_bytes() == damaged
    assert str(aside) in store.notices[0].text("en")
    with Store(file) as store:
        assert store.notices == []
        assert [each.problem for each in store.log()] == ["it goes on"]


def test_damage_in_a_large_file_is_found_in_use_and_mended_by_the_next_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_module, "_CHECKED_BYTES", 1000)
    file = tmp_path / "progress.sqlite3"
    with Store(file) as store:
        for number in range(200):
            store.add_log(f"problem {number} " + "x" * 100)
    whole = file.read_bytes()
    at = whole.index(b"problem 100 ") // 4096 * 4096
    file.write_bytes(whole[:at] + b"\xff" * 4096 + whole[at + 4096 :])
    with Store(file) as store, pytest.raises(StoreError, match="Run the command again"):
        store.log()
    with Store(file) as store:
        assert "damaged" in store.notices[0].text("en")
        assert store.log() == ()
    with Store(file) as store:
        assert store.notices == []


def test_an_empty_file_is_a_new_one(tmp_path: Path) -> None:
    file = tmp_path / "progress.sqlite3"
    file.touch()
    with Store(file) as store:
        store.add_log("first")
    db = sqlite3.connect(file)
    assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert db.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
    db.close()


def python(code: str, *words: str, **limits: int) -> subprocess.Popen[str]:
    def limit() -> None:
        if "file_bytes" in limits:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (limits["file_bytes"], limits["file_bytes"]))

    return subprocess.Popen(
        [sys.executable, "-c", code, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=limit,
    )


WRITER = """
import sys
from pathlib import Path
from flashpath.course.state.store import Store
with Store(Path(sys.argv[1])) as store:
    for number in range(int(sys.argv[3])):
        store.add_log(f"{sys.argv[2]} {number}")
        print(number, flush=True)
"""


def test_many_processes_begin_and_write_one_file(tmp_path: Path) -> None:
    file = tmp_path / "new" / "progress.sqlite3"
    writers = [python(WRITER, str(file), f"writer {each}", "20") for each in range(6)]
    for each in writers:
        _, errors = each.communicate(timeout=60)
        assert each.returncode == 0, errors
    with Store(file) as store:
        assert len({each.problem for each in store.log()}) == 6 * 20


def test_many_processes_find_a_damaged_file_and_one_puts_it_aside(tmp_path: Path) -> None:
    file = tmp_path / "progress.sqlite3"
    file.write_bytes(b"rubbish" * 1000)
    writers = [python(WRITER, str(file), f"writer {each}", "5") for each in range(4)]
    for each in writers:
        _, errors = each.communicate(timeout=60)
        assert each.returncode == 0, errors
    assert len(list(tmp_path.glob("progress.damaged.*"))) == 1
    with Store(file) as store:
        assert len(store.log()) == 20


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_a_process_that_is_killed_loses_nothing_it_called_saved(
    tmp_path: Path, how: signal.Signals, hears_control_c: None
) -> None:
    file = tmp_path / "progress.sqlite3"
    writer = python(WRITER, str(file), "killed", "100000")
    assert writer.stdout is not None
    said = 0
    while said < 30:
        said = int(writer.stdout.readline())
    writer.send_signal(how)
    said = max([said, *map(int, writer.stdout.read().split())])
    writer.communicate(timeout=60)
    with Store(file) as store:
        kept = [each.problem for each in store.log()]
        assert store.notices == []
    assert kept[: said + 1] == [f"killed {number}" for number in range(said + 1)]
    assert len(kept) <= said + 2  # one may have been committed and not yet printed


def test_a_full_disk_is_told_and_takes_nothing_away(tmp_path: Path) -> None:
    file = tmp_path / "progress.sqlite3"
    with Store(file) as store:
        store.add_log("before")
    writer = python(WRITER, str(file), "x" * 5000, "1000", file_bytes=200_000)
    said, errors = writer.communicate(timeout=60)
    assert writer.returncode == 1
    assert "StoreError" in errors
    assert "there is no room" in errors
    with Store(file) as store:
        assert store.log()[0].problem == "before"
        assert len(store.log()) == 1 + len(said.split())


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    taken = tmp_path / "file"
    taken.touch()
    with pytest.raises(StoreError, match="FLASHPATH_HOME"):
        Store(taken / "progress.sqlite3")
    if os.geteuid() != 0:  # root may write anywhere
        home = tmp_path / "home"
        home.mkdir()
        home.chmod(0o500)
        with pytest.raises(StoreError, match="cannot be written"):
            Store(home / "progress.sqlite3")


def test_a_writer_that_never_ends_is_told(tmp_path: Path) -> None:
    file = tmp_path / "progress.sqlite3"
    Store(file).close()
    other = sqlite3.connect(file, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    waiting = Database(file, busy_seconds=0.1)
    with pytest.raises(StoreError, match="another process"), waiting.writing():
        pass
    other.execute("ROLLBACK")
    with waiting.writing():
        pass


def test_a_command_waits_for_another_writer_once_only(tmp_path: Path) -> None:
    file = tmp_path / "progress.sqlite3"
    Store(file).close()
    other = sqlite3.connect(file, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    waiting = Database(file, busy_seconds=1.0)
    began = time.monotonic()
    for _ in range(4):
        with pytest.raises(StoreError, match="more than 1 s"), waiting.writing():
            pass
    assert 0.9 < time.monotonic() - began < 2.5
    other.execute("ROLLBACK")
    with waiting.writing():
        pass
    assert BUSY_SECONDS <= 5


def test_a_copy_of_the_file_is_whole(tmp_path: Path) -> None:
    """What a backup program sees after the command has ended: one file."""
    with Store(tmp_path / "progress.sqlite3") as store:
        store.add_log("kept")
    shutil.copy(tmp_path / "progress.sqlite3", tmp_path / "copy.sqlite3")
    with Store(tmp_path / "copy.sqlite3") as store:
        assert store.log()[0].problem == "kept"
