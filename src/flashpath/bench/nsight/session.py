"""Runs of one program under one profiler after another, each with the same input; and their end.

A profiler starts more than the program: wrappers, agents that detach themselves, other process groups. All
that a run started carries a mark in its environment, and by it all of it is found and ended.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from flashpath import settings
from flashpath.jit.programs import TIMED_OUT, Program, Run
from flashpath.jit.programs.processes import carrying, kill_carrying
from flashpath.jit.programs.running import environment, wait_for
from flashpath.jit.programs.shared_input import SharedInput
from flashpath.messages import say

_LAUNCHER = Path(__file__).with_name("launcher.py")
_LAST_GRACE = 2.0  # seconds: a profiler's agents end by themselves shortly after the program


@dataclass(frozen=True)
class Problem:
    """Why a profiler measured nothing, or less than all, and what can be done about it."""

    tool: str
    reason: str
    fix: str | None = None

    def __str__(self) -> str:
        return f"{self.reason}\n  → {self.fix}" if self.fix else self.reason


@dataclass(frozen=True)
class ProfiledRun:
    """The end of a run under a profiler: the program's exit code (None: it was not started), and the log."""

    code: int | None
    ended_by_us: bool
    log: str


@dataclass
class Session:
    """A program, its arguments and its input, to be run several times.

    Every run is given the same input. What the program prints is shown once: of the first run that brings it
    to its end.
    """

    program: Program
    arguments: Sequence[str]
    run_options: Run = field(default_factory=Run)
    code: int | None = None
    """The program's exit code in the first run that it ended in."""
    stopped: bool = False
    """Whether a signal was to end this process, or the first run took too long: no more runs are wanted."""

    def __enter__(self) -> Self:
        self._scratch = tempfile.TemporaryDirectory(prefix="flashpath-nsight-")
        self.folder = Path(self._scratch.name)
        self._input = SharedInput(self.folder / "input")
        return self

    def __exit__(self, *_: object) -> None:
        self._scratch.cleanup()

    @contextlib.contextmanager
    def streams(self, log: Path) -> Generator[tuple[int, int, int]]:
        """The next run's standard input, and where its output and errors go: if seen before, into the log."""
        with self._input.opened() as given, log.open("ab") as log_file:
            if self.code is None:
                yield given, 1 if self.run_options.output is None else self.run_options.output, 2
            else:
                yield given, log_file.fileno(), log_file.fileno()

    def run_under(self, profiler: Sequence[str], tool: str, *, own_output: bool) -> ProfiledRun:
        """Run the program under a profiler; `own_output` says that the profiler prints on its output."""
        code_file, log = self.folder / f"{tool}.code", self.folder / f"{tool}.log"
        name = str(self.program.recipe.files[0].with_suffix(""))
        mark = uuid.uuid4().hex
        variables = {**environment(self.program.recipe, {}), settings.PROFILED.name: mark}

        with contextlib.ExitStack() as held:
            given, output, errors = held.enter_context(self.streams(log))
            log_file = held.enter_context(log.open("ab"))
            # A profiler that prints has its own 1 and 2: the program's are handed through it as others.
            copies = [_duplicate(fd, held) for fd in (output, errors)] if own_output else []
            handed = [str(code_file), *map(str, copies or (1, 2))]
            words = [*handed, str(self.program.path), name, *self.arguments]

            def start() -> _Family:
                return _Family(
                    [*profiler, sys.executable, "-I", "-S", str(_LAUNCHER), *words],
                    mark,
                    env=variables,
                    stdin=given,
                    stdout=log_file if own_output else output,
                    stderr=log_file if own_output else errors,
                    pass_fds=copies,
                )

            grace = 0.0
            try:
                ended = wait_for(start, self.run_options, f"{name} under {tool}")
                grace = _LAST_GRACE if ended.stopped is None else 0.0
            except OSError as error:
                return ProfiledRun(
                    None, False, say("bench.nsight-not-started", program=profiler[0], why=error.strerror)
                )
            finally:
                _end_all(mark, grace)
        code = int(code_file.read_text()) if code_file.is_file() and code_file.read_text() else None
        if ended.stopped is None:
            self.code = code if self.code is None else self.code
        elif ended.stopped != TIMED_OUT or self.code is None:
            self.code, self.stopped = ended.stopped, True
        return ProfiledRun(code, ended.stopped is not None, log.read_text(errors="replace"))


def _duplicate(fd: int, held: contextlib.ExitStack) -> int:
    copy = os.dup(fd)
    held.callback(os.close, copy)
    return copy


# ---- All that a run started ----------------------------------------------------------------------------


class _Family(subprocess.Popen[bytes]):
    """A profiler with everything that it started: signals reach all of it, also what has detached itself."""

    def __init__(self, command: Sequence[str], mark: str, **options: Any) -> None:
        self._mark = mark
        super().__init__(command, **options)

    def send_signal(self, sig: int) -> None:
        for pid in carrying(settings.PROFILED.name, self._mark):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, sig)


def _end_all(mark: str, grace: float) -> None:
    """Wait for the rest of a run, and make it end."""
    deadline = time.monotonic() + grace
    while carrying(settings.PROFILED.name, mark) and time.monotonic() < deadline + _LAST_GRACE:
        if time.monotonic() >= deadline:
            kill_carrying(settings.PROFILED.name, mark)
        time.sleep(0.02)
