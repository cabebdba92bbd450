"""watch and review at a terminal: keys, saves, and every way in which they can end."""

from __future__ import annotations

import os
import pty
import re
import resource
import select
import signal
import subprocess
import termios
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from flashpath.course.state import Store

SECONDS = 30
WIDTH = 120


class Terminal:
    """A command at a terminal of its own, of which it is the session's leader."""

    def __init__(self, folder: Any, *words: str, shell: str | None = None) -> None:
        self.outer, self.inner = pty.openpty()
        termios.tcsetwinsize(self.inner, (40, WIDTH))
        self.before = termios.tcgetattr(self.inner)
        self.shown = ""
        self.process: subprocess.Popen[str] = folder.start(
            *words,
            shell=shell,
            stdin=self.inner,
            stdout=self.inner,
            stderr=self.inner,
            start_new_session=True,
            preexec_fn=lambda: _own(self.inner),
        )

    def wait_for(self, text: str) -> str:
        """What was shown up to this text; it is then forgotten."""
        end = time.monotonic() + SECONDS
        while text not in self.shown:
            ready, _, _ = select.select([self.outer], [], [], max(0, end - time.monotonic()))
            assert ready, f"{text!r} was not shown, but:\n{self.shown}"
            try:
                self.shown += os.read(self.outer, 65536).decode("utf-8", "replace")
            except OSError:
                pytest.fail(f"it ended before it showed {text!r}:\n{self.shown}")
        before, _, self.shown = self.shown.partition(text)
        return before + text

    def press(self, keys: str) -> None:
        os.write(self.outer, keys.encode())

    def ended(self) -> int:
        """The exit code; what is shown at the end is read, or the process could not write it."""
        end = time.monotonic() + SECONDS
        while self.process.poll() is None:
            assert time.monotonic() < end, f"it did not end:\n{self.shown}"
            if select.select([self.outer], [], [], 0.05)[0]:
                self.shown += os.read(self.outer, 65536).decode("utf-8", "replace")
        return self.process.returncode

    def is_as_before(self) -> bool:
        return termios.tcgetattr(self.inner) == self.before

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.outer)
        os.close(self.inner)


def _own(terminal: int) -> None:
    import fcntl

    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
    # Under nohup the tests ignore it, and so would what they start, rightly: here it is to be heard.
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture
def terminals(folder: Any, hears_control_c: None) -> Iterator[Any]:
    opened: list[Terminal] = []

    def begin(*words: str, shell: str | None = None) -> Terminal:
        opened.append(Terminal(folder, *words, shell=shell))
        return opened[-1]

    yield begin
    for each in opened:
        each.close()


KEYS = "q quit"


def test_watch_grades_on_save_and_obeys_its_keys(folder: Any, terminals: Any) -> None:
    watch = terminals("watch")
    watch.wait_for("checking …")
    shown = watch.wait_for("y[3] is 1.0") + watch.wait_for(KEYS)
    assert "✗" in shown
    path = folder.file("first/double")
    assert "\x1b]8;" in shown  # a link that can be clicked
    assert path.as_uri() in shown
    assert "0/5" in shown
    watch.press("h")
    assert "hint 1 of 3: first hint" in watch.wait_for(KEYS)
    folder.write("first/double", "right")
    assert "1/5" in watch.wait_for("Passed. Press n to go on to")
    watch.wait_for(KEYS)
    watch.press("n")
    watch.wait_for("first/half")
    watch.wait_for("y[3] is 1.0")
    watch.wait_for(KEYS)
    watch.press("l")
    watch.wait_for("second/again")
    watch.wait_for(KEYS)
    watch.press("c")
    watch.wait_for("all is well")
    watch.wait_for(KEYS)
    # A save by renaming, as editors do, of another exercise: watch turns to it.
    new = path.with_name("new")
    new.write_text("right too")
    new.replace(folder.file("second/again"))
    watch.wait_for("second/again: ")
    watch.wait_for("Passed.")
    watch.wait_for(KEYS)
    watch.press("r")
    watch.wait_for("[y/N]")
    watch.wait_for(KEYS)
    watch.press("y")
    watch.wait_for("y[3] is 1.0")
    watch.wait_for(KEYS)
    assert "return x" in folder.file("second/again").read_text()
    watch.press("\x1b[A?é")  # an arrow, and keys that mean nothing
    watch.press("q")
    assert watch.ended() == 0
    assert watch.is_as_before()
    with folder.store() as store:
        assert set(store.passes()) == {"first/double", "second/again"}
        assert [store.text_of(each.submission) for each in store.kept_files("second/again")] == ["right too"]


def test_watch_shows_title_task_and_lesson_and_offers_the_solution(folder: Any, terminals: Any) -> None:
    with folder.store() as store:
        for name in ("first/half", "first/quiz"):
            store.pass_without_file(name)
    watch = terminals("watch")
    watch.wait_for("checking …")
    watch.wait_for(KEYS)
    shown = re.sub(r"\x1b\][^\x07\x1b]*(\x07|\x1b\\)|\x1b\[[0-9;?]*\w", "", watch.wait_for(KEYS))
    assert "first/double  Double it" in shown
    assert "The lesson: flashpath read first" in shown
    lines = [line.strip() for line in shown.splitlines()]
    first, last = (
        next(number for number, line in enumerate(lines) if line.startswith(opening))
        for opening in ("Each element", "The lesson")
    )
    assert max(map(len, lines)) <= WIDTH
    assert " ".join(lines[first:last]) == "Each element of the result is " * 6 + "twice that of x."
    assert last - first > 1  # broken between words, and nothing is cut
    watch.press("s")  # not before it is passed
    assert "Two times." not in watch.wait_for(KEYS)
    folder.write("first/double", "right")
    assert "s to see the solution" in watch.wait_for("its checkpoint: flashpath review first")
    watch.wait_for(KEYS)
    watch.press("s")
    watch.wait_for("return 2 * x")
    watch.wait_for("Two times.")
    watch.press("q")
    assert watch.ended() == 0


def test_the_list_of_watch_scrolls(folder: Any, terminals: Any) -> None:
    shell = "import sys\nfrom flashpath.cli.learning import watch\nwatch._LISTED = 2\n"
    shell += "sys.argv = sys.argv[2:]\nimport runpy\nrunpy.run_path(sys.argv[0], run_name='__main__')\n"
    watch = terminals("watch", shell=shell)
    watch.wait_for(KEYS)
    pages: list[str] = []
    for _ in range(4):
        watch.press("l")
        watch.wait_for("first/double  Double it")
        pages.append(watch.wait_for("l shows more"))
        watch.wait_for(KEYS)
    assert re.findall(r"(\d–\d) of 5", "".join(pages)) == ["1–2", "3–4", "4–5", "1–2"]
    assert "second/again" in pages[1]
    assert "first/quiz" in pages[1]
    watch.press("q")
    assert watch.ended() == 0


def test_a_key_stops_the_grade_that_runs(folder: Any, terminals: Any) -> None:
    watch = terminals("watch")
    watch.wait_for(KEYS)
    folder.write("first/half", "slow, for ever")
    wait_until((folder.home / "grading").exists)
    watch.press("\x1b[Bx?")  # keys that mean nothing stop nothing
    watch.press("h")
    assert "hint 1 of 3" in watch.wait_for("first hint")
    (folder.home / "grading").unlink()
    folder.write("first/double", "right")
    watch.wait_for("Passed.")
    watch.press("c")
    watch.wait_for("checking first/half")
    wait_until((folder.home / "grading").exists)
    watch.press("l")
    watch.wait_for("second/again")
    watch.press("c")
    watch.wait_for("checking first/half")
    start = time.monotonic()
    watch.press("q")
    assert watch.ended() == 0
    assert time.monotonic() - start < 5  # where the grader takes a minute
    assert watch.is_as_before()
    assert "Traceback" not in watch.shown
    with folder.store() as store:
        assert {each.passed for each in store.attempts("first/half")} == {None}
        assert store.attempts("first/double")[-1].passed


def test_a_file_that_cannot_be_graded_does_not_end_checking_all(folder: Any, terminals: Any) -> None:
    folder.write("first/double", "right")
    watch = terminals("watch", "second/again")
    watch.wait_for(KEYS)
    folder.write("first/half", "refused")
    watch.wait_for("it is refused")
    watch.wait_for(KEYS)
    watch.press("c")
    watch.wait_for("first/half: it is refused")
    watch.wait_for(KEYS)
    watch.press("q")
    assert watch.ended() == 0


@pytest.mark.parametrize(
    ("how", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129), ("\x03", 130)]
)
def test_watch_restores_the_terminal_when_it_is_ended(terminals: Any, how: Any, code: int) -> None:
    watch = terminals("watch")
    watch.wait_for(KEYS)
    assert not watch.is_as_before()
    if isinstance(how, str):
        watch.press(how)
    else:
        watch.process.send_signal(how)
    assert watch.ended() == code, watch.shown
    assert watch.is_as_before()
    assert "Traceback" not in watch.shown


def test_watch_restores_the_terminal_after_a_crash(folder: Any, terminals: Any) -> None:
    watch = terminals("watch")
    watch.wait_for(KEYS)
    folder.write("first/double", "crash")
    assert watch.ended() == 1
    assert "ZeroDivisionError" in watch.shown
    assert watch.is_as_before()


# As a shell does: the command is a job of its own in the foreground, and the shell hears when it stops.
SHELL = """
import os, signal, subprocess, sys
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
job = subprocess.Popen(sys.argv[1:], process_group=0)
os.tcsetpgrp(0, job.pid)
while True:
    _, status = os.waitpid(job.pid, os.WUNTRACED)
    if not os.WIFSTOPPED(status):
        sys.exit(os.waitstatus_to_exitcode(status))
    print("STOPPED", job.pid, flush=True)
"""


def test_watch_gives_the_terminal_back_while_it_is_stopped(terminals: Any) -> None:
    watch = terminals("watch", shell=SHELL)
    watch.wait_for(KEYS)
    assert not watch.is_as_before()
    watch.press("\x1a")  # Ctrl-Z
    watch.wait_for("STOPPED ")
    job = int(watch.wait_for("\r\n"))
    assert watch.is_as_before()
    os.kill(job, signal.SIGCONT)
    watch.wait_for(KEYS)  # drawn again
    assert not watch.is_as_before()
    watch.press("q")
    assert watch.ended() == 0
    assert watch.is_as_before()


def test_watch_without_a_terminal_only_prints(folder: Any, hears_control_c: None) -> None:
    watch = folder.start("watch", "--json")
    assert watch.stdout is not None
    assert '"passed": false' in watch.stdout.readline()
    folder.write("first/half", "right")
    line = watch.stdout.readline()
    assert '"exercise": "first/half"' in line
    assert '"passed": true' in line
    watch.send_signal(signal.SIGINT)
    out, err = watch.communicate(timeout=SECONDS)
    assert watch.returncode == 130
    assert "Traceback" not in err
    plain = folder.start("watch", "first/half")
    assert plain.stdout is not None
    assert plain.stdout.readline().startswith("✓ first/half")
    plain.terminate()
    out, _ = plain.communicate(timeout=SECONDS)
    assert "\x1b" not in out


# ---- Interrupted in the middle: nothing is lost --------------------------------------------------------


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_grade_that_is_interrupted_keeps_what_was_tried(
    folder: Any, how: signal.Signals, hears_control_c: None
) -> None:
    folder.write("first/double", "a slow one")
    grading = folder.start("grade", "first/double")
    wait_until((folder.home / "grading").exists)
    grading.send_signal(how)
    _, err = grading.communicate(timeout=SECONDS)
    assert grading.returncode == (-9 if how == signal.SIGKILL else 130)
    assert "Traceback" not in err
    with folder.store() as store:
        (attempt,) = store.attempts("first/double")
        assert attempt.passed is None
        assert store.text_of(attempt.submission) == "a slow one"
    folder.write("first/double", "right")
    assert folder.run("grade", "first/double").code == 0


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_watch_that_is_interrupted_while_it_grades_keeps_what_was_tried(
    folder: Any, terminals: Any, how: signal.Signals
) -> None:
    watch = terminals("watch")
    watch.wait_for(KEYS)
    folder.write("first/double", "right")
    watch.wait_for("Passed.")
    folder.write("first/half", "slow, for ever")
    wait_until((folder.home / "grading").exists)
    watch.process.send_signal(how)
    assert watch.ended() == (-9 if how == signal.SIGKILL else 130)
    with folder.store() as store:
        assert set(store.passes()) == {"first/double"}
        (attempt,) = store.attempts("first/half")
        assert store.text_of(attempt.submission) == "slow, for ever"


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT, "\x03"])
def test_a_review_that_is_interrupted_keeps_every_answer(folder: Any, terminals: Any, how: Any) -> None:
    review = terminals("review", "first")
    question = review.wait_for("q stop): ")
    (number,) = re.findall(r"(\d)\. the right option", question)
    review.press(f"{number}\n")
    review.wait_for("✓ right")
    review.wait_for("q stop): ")
    review.press("31\n")
    review.wait_for("✗ not right. The answer is: 32")
    review.wait_for("q stop): ")
    if isinstance(how, str):
        review.press(how)
    else:
        review.process.send_signal(how)
    assert review.ended() == (-9 if how == signal.SIGKILL else 130)
    assert "Traceback" not in review.shown
    with folder.store() as store:
        kept = store.reviews.all()
        assert {name: each.ever_right for name, each in kept.items()} == {
            "first/who": True,
            "first/how-many": False,
        }


def test_the_log_asks_at_a_terminal(folder: Any, terminals: Any) -> None:
    log = terminals("log")
    for question, answer in (
        ("What was the problem", "竞争"),
        ("What solved it", "屏障"),
        ("What did you learn", ""),
        ("Which file", ""),
    ):
        log.wait_for(question)
        log.press(f"{answer}\n")
    assert log.ended() == 0
    with folder.store() as store:
        (entry,) = store.log()
        assert (entry.problem, entry.solution, entry.learnt) == ("竞争", "屏障", "")


def test_a_note_is_opened_in_the_editor(
    folder: Any, terminals: Any, tmp_path: Path, monkeypatch: Any
) -> None:
    editor = tmp_path / "my editor"
    editor.write_text('#!/bin/sh\necho "opened $2 with $1"\necho mine >> "$2"\n')
    editor.chmod(0o755)
    monkeypatch.setenv("EDITOR", f"'{editor}' --wait")
    note = terminals("note", "--week", "1")
    note.wait_for("week-1.md with --wait")
    assert note.ended() == 0
    (path,) = folder.root.rglob("week-1.md")
    assert path.read_text().endswith("mine\n")


@pytest.mark.alone
def test_next_and_progress_start_fast(folder: Any) -> None:
    """The median of five, in seconds of the processor: what a wait on a busy disk adds is not theirs."""

    def spent() -> float:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    for command in ("next", "progress"):
        times: list[float] = []
        for _ in range(5):
            start = spent()
            folder.start(command).communicate(timeout=SECONDS)
            times.append(spent() - start)
        assert 0 < sorted(times)[2] < 0.4, (command, times)


def wait_until(true: Any) -> None:
    end = time.monotonic() + SECONDS
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_two_commands_at_once_do_not_disturb_each_other(folder: Any) -> None:
    folder.write("first/double", "right")
    running = [folder.start("grade", "first/double") for _ in range(3)]
    running += [folder.start("progress", "--tick", "read-paper"), folder.start("log", "at once")]
    for each in running:
        _, err = each.communicate(timeout=SECONDS)
        assert each.returncode == 0, err
    with folder.store() as store:
        assert isinstance(store, Store)
        assert [each.passed for each in store.attempts("first/double")] == [True] * 3
        assert store.ticks("small") == {"read-paper"}
        assert [each.problem for each in store.log()] == ["at once"]
