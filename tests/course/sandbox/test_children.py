"""A child ends with its parent, writes little, leaves nothing, and says what holds it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from flashpath.course.sandbox import (
    FunctionSession,
    Raised,
    SandboxError,
    TimedOut,
    enforced,
    folders,
    functions,
)
from flashpath.course.sandbox.inside import restrict
from flashpath.messages import told

linux = pytest.mark.skipif(sys.platform != "linux", reason="Linux only")

_HANGING = """
from flashpath.course.sandbox import FunctionSession
with FunctionSession("def f(x):\\n    while True: pass\\n", "f.py", "f") as session:
    print(session._child._process.pid, session._child.folder, flush=True)
    session.call((1.0,))
"""


def _is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@linux
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_child_ends_with_its_parent(how: signal.Signals, hears_control_c: None) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", _HANGING], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert parent.stdout is not None
    child, folder = parent.stdout.readline().decode().split(maxsplit=1)
    os.kill(parent.pid, how)
    parent.wait(20)
    parent.stdout.close()
    end = time.monotonic() + 10
    while _is_running(int(child)) and time.monotonic() < end:
        time.sleep(0.02)
    assert not _is_running(int(child))
    if how is signal.SIGINT:
        assert not Path(folder.strip()).exists()


def _unread(*_: object) -> None:
    return


def _folder_after(source: str, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, SandboxError | None]:
    """Where the child worked, after a call and its end; and what the call was stopped for."""
    monkeypatch.setattr(functions, "check_python", _unread)
    caught: SandboxError | None = None
    with FunctionSession(f"import os\ndef f():\n{source}    return 0.0\n", "f.py", "f") as session:
        child = session._child  # pyright: ignore[reportPrivateUsage]
        assert child is not None
        try:
            session.call(())
        except SandboxError as error:
            caught = error
    return child.folder, caught


@linux
def test_folders_deeper_than_a_path_are_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    source = "    for _ in range(3000):\n        os.mkdir('d')\n        os.chdir('d')\n"
    folder, stopped = _folder_after(source, monkeypatch)
    assert not folder.exists()
    assert stopped is not None
    assert "made" in str(stopped)


@linux
@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("    for i in range(9000): open(str(i), 'w').close()\n", "made more than 2000 files"),
        (
            "    for i in range(6):\n"
            "        with open(str(i), 'wb') as file:\n"
            "            for _ in range(50): file.write(bytes(1 << 20))\n",
            "wrote more than 256 MiB",
        ),
        ("    for i in range(50):\n        os.mkdir('d', 0o300)\n        os.chdir('d')\n", "without end"),
    ],
)
def test_what_a_child_writes_is_bounded(source: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, stopped = _folder_after(source, monkeypatch)
    assert said in str(stopped)
    assert "needs no files" in str(stopped)
    assert not folder.exists()


@linux
def test_the_filter_knows_both_architectures() -> None:
    for which, architecture in restrict._ARCHITECTURES.values():  # pyright: ignore[reportPrivateUsage]
        program = restrict._program(which, architecture, 1)  # pyright: ignore[reportPrivateUsage]
        assert len(program) < 4096  # the kernel takes no more
        for at, (code, if_true, if_false, _) in enumerate(program):
            if code & 0x07 == 0x05:  # a jump
                assert at + 1 + max(if_true, if_false) < len(program)
    refused = restrict._REFUSED  # pyright: ignore[reportPrivateUsage]
    for which in (0, 1):
        numbers = [pair[which] for pair in refused.values() if pair[which] is not None]
        assert len(set(numbers)) == len(numbers)


@linux
def test_whatever_a_child_leaves_is_removed_soon(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    deep = folder
    for _ in range(40):
        deep = deep / "closed"
    deep.mkdir(parents=True)
    (deep / "file").touch()
    (folder / "link").symlink_to(tmp_path)
    (folder / "gone").symlink_to("nowhere")
    (tmp_path / "kept").touch()
    for number in range(20_000):
        (folder / f"f{number}").touch()
    for each in [deep, *deep.parents][: len(deep.relative_to(tmp_path).parts)]:
        each.chmod(0)
    began = time.monotonic()
    folders.remove_folder(folder)
    assert time.monotonic() - began < 10
    assert not folder.exists()
    assert (tmp_path / "kept").exists()
    folders.remove_folder(folder)  # once more, with nothing there


@linux
def test_folders_of_processes_that_are_gone_are_swept_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    made = "from flashpath.course.sandbox import folders; print(folders.make_folder())"
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    printed = subprocess.run([sys.executable, "-c", made], env=environment, capture_output=True, check=True)
    abandoned = Path(printed.stdout.decode().strip())
    (abandoned / "file").touch()
    own = folders.make_folder()
    elsewhere = tmp_path / abandoned.name.replace(abandoned.name.split("-")[4], "0badcafe")
    elsewhere.mkdir()
    reused = tmp_path / own.name.replace(f"-{own.name.split('-')[3]}-", "-1-")
    reused.mkdir()
    (tmp_path / "flashpath-sandbox-nobody-x").mkdir()
    (tmp_path / f"{abandoned.name}_").symlink_to(own)
    folders.sweep.__wrapped__()
    assert not abandoned.exists()
    assert not reused.exists()
    assert own.exists()
    assert elsewhere.exists()  # of another container, it may be: an hour first
    os.utime(elsewhere, (0, 0))
    folders.sweep.__wrapped__()
    assert not elsewhere.exists()


def test_nothing_is_left_behind() -> None:
    with FunctionSession("def f(x): return x", "f.py", "f") as session:
        child = session._child  # pyright: ignore[reportPrivateUsage]
        assert child is not None
        assert child.folder.exists()
    assert not child.folder.exists()
    with pytest.raises(RuntimeError, match="closed"):
        session.call((1,))


@linux
def test_children_get_no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(functions, "check_python", _unread)
    monkeypatch.setenv("FLASHPATH_SECRET", "seed")
    source = "import os\ndef f(): return float(any('FLASHPATH' in each for each in os.environ))\n"
    with FunctionSession(source, "f.py", "f") as session:
        assert session.call(()) == (0.0,)


@linux
def test_what_is_enforced_is_tried_out() -> None:
    assert {"time", "files", "rlimits", "dies-with-parent"} <= set(enforced())


def test_every_error_is_one_that_a_learner_can_read() -> None:
    assert issubclass(Raised, SandboxError)
    assert "more than 3 s" in str(TimedOut(told("course.sandbox.importing", file="x.py"), 3.0))
