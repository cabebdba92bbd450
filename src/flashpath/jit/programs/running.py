"""Starts a program and waits for it: its streams are the caller's, its exit code is told as a shell does."""

from __future__ import annotations

import contextlib
import errno
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from types import FrameType
from typing import Any

from flashpath import settings
from flashpath.errors import FlashpathError
from flashpath.jit.cache import KernelCache
from flashpath.jit.programs.recipe import Recipe
from flashpath.jit.programs.store import Program, find
from flashpath.jit.programs.watcher import Unwatched, Watcher
from flashpath.messages import Message, say
from flashpath.vgpu import runtime_library

TIMED_OUT = 124  # as `timeout` of the coreutils has it
_GRACE_SECONDS = 2.0  # between the signal that a program may answer and the one that it cannot
_FOREVER = 1e8  # seconds; the system's clocks cannot be asked to wait much longer
_STARTS = 5  # others may evict a program from the cache, or hold it open, just before it starts


@dataclass(frozen=True)
class Run:
    """A way to run a program. `options` are settings of the virtual GPU's runtime: exact, seed, budget, …"""

    timeout: float | None = None
    options: Mapping[str, object] = field(default_factory=dict[str, object])
    input: int | None = None  # the files of its standard input, output and error; None: the caller's own
    output: int | None = None
    errors: int | None = None
    tell: Callable[[str], None] = lambda text: print(text, file=sys.stderr, flush=True)


def build(recipe: Recipe, cache: KernelCache | None = None, watcher: Watcher | None = None) -> Program:
    """The program: from the cache if nothing that went into it has changed, else compiled."""
    store = cache or KernelCache()
    if (found := find(recipe, store)) is not None:
        return found
    from flashpath.jit.programs.building import build_anew  # what reads compilers' messages takes a while

    return build_anew(recipe, store, watcher or Unwatched())


def run(
    recipe: Recipe,
    arguments: Sequence[str] = (),
    how: Run | None = None,
    *,
    cache: KernelCache | None = None,
    watcher: Watcher | None = None,
) -> int:
    """Build the program if need be, run it, and return its exit code; 128 + n where signal n ended it.

    A program that runs longer than the timeout is asked to end (SIGTERM), then made to; the code is
    `TIMED_OUT` then. Signals that would end this process reach the program; at the second it is made to end.
    """
    wanted = how or Run()
    for attempt in range(_STARTS):
        program = build(recipe, cache, watcher)
        if attempt == 0 and watcher is not None:
            watcher.ready(program)
        try:
            return _run(program, arguments, wanted)
        except FileNotFoundError:
            if program.path.exists():
                raise  # the program is there: its loader or a library is not
        except PermissionError:
            path, variable = str(program.path), settings.CACHE_DIR.name
            raise FlashpathError("jit.may-not-be-executed", path=path, variable=variable) from None
        except OSError as error:
            if error.errno != errno.ETXTBSY:
                raise
            time.sleep(0.02 * (attempt + 1))
    folder, variable = str(settings.cache_dir()), settings.CACHE_LIMIT_MB.name
    raise FlashpathError("jit.program-evicted", folder=folder, variable=variable)


def environment(recipe: Recipe, options: Mapping[str, object]) -> dict[str, str]:
    """The variables of the program: those of this process, and what its runtime is to know."""
    variables = dict(os.environ)
    if recipe.target.gpu is not None:
        library = str(runtime_library.folder())
        others = variables.get("LD_LIBRARY_PATH")
        variables["LD_LIBRARY_PATH"] = f"{library}:{others}" if others else library
        # A program whose starter is killed is to end too, which the starter cannot see to.
        told = {**options, "parent": os.getpid()}
        variables[settings.RUNTIME.name] = runtime_library.settings(recipe.target.gpu, told)
    else:
        make_visible(variables, recipe.target.index)
    return variables


def make_visible(variables: dict[str, str], index: int) -> None:
    """Have a program with these variables find the GPU of that index as its first."""
    if index:
        visible = [each for each in variables.get("CUDA_VISIBLE_DEVICES", "").split(",") if each]
        variables["CUDA_VISIBLE_DEVICES"] = visible[index] if visible else str(index)


# What is waited for: the number of a signal to this process, or None: the program has ended.
_News = SimpleQueue[int | None]


@dataclass(frozen=True)
class Ending:
    """The end of a process: its exit code as a shell tells it, and whether it was us who ended it."""

    code: int
    stopped: int | None = None
    """`TIMED_OUT`, or 128 + the number of the signal that was to end this process; whatever its own code."""


def _run(program: Program, arguments: Sequence[str], how: Run) -> int:
    name = str(program.recipe.files[0].with_suffix(""))
    variables = environment(program.recipe, how.options)

    def start() -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [name, *arguments],
            executable=program.path,
            env=variables,
            stdin=how.input,
            stdout=how.output,
            stderr=how.errors,
        )

    ending = wait_for(start, how, name)
    if ending.stopped is not None and (mark := variables.get(settings.RUNTIME.name)):
        from flashpath.jit.programs.processes import kill_carrying

        kill_carrying(settings.RUNTIME.name, mark)  # what the program has forked
    return ending.code


def wait_for(start: Callable[[], subprocess.Popen[bytes]], how: Run, name: str) -> Ending:
    """Start a process and wait for its end: it hears our signals, and runs no longer than it may."""
    news: _News = SimpleQueue()
    with _signals(news):
        process = start()
        try:
            Thread(target=_tell_of_end, args=(process, news), daemon=True).start()
            return _waited(process, how, news, name)
        finally:
            _end(process, grace=0)


def _tell_of_end(process: subprocess.Popen[bytes], news: _News) -> None:
    """Runs in a thread of its own: waiting with a time limit polls, and sees an end late."""
    process.wait()
    news.put(None)


@contextlib.contextmanager
def _signals(news: _News) -> Generator[None]:
    """Collects the signals that would end this process: the program is ended first."""

    def note(number: int, _: FrameType | None) -> None:
        news.put(number)

    before: dict[int, Any] = {}
    with contextlib.suppress(ValueError):  # signals can be handled in the main thread only
        for kind in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(kind) != signal.SIG_IGN:  # as for a background job, or under nohup
                before[kind] = signal.signal(kind, note)
    try:
        yield
    finally:
        for kind, handler in before.items():
            signal.signal(kind, handler)


def _waited(process: subprocess.Popen[bytes], how: Run, news: _News, name: str) -> Ending:
    """Wait for the program's end, passing signals on, no longer than it may take."""
    deadline = time.monotonic() + (math.inf if how.timeout is None else how.timeout)
    first: int | None = None
    while True:
        left = deadline - time.monotonic()
        try:
            number = news.get(timeout=max(0.0, left) if left < _FOREVER else None)
        except Empty:
            _end(process, _GRACE_SECONDS)
            how.tell(say("jit.timed-out", name=name, seconds=how.timeout))
            return Ending(TIMED_OUT, TIMED_OUT)
        if number is None:
            return Ending(_exit_code(process.wait(), name, how), None if first is None else 128 + first)
        if first is not None:  # it does not heed the first one
            _end(process, grace=0)
            return Ending(128 + first, 128 + first)
        if number != signal.SIGINT or not _is_in_foreground():
            process.send_signal(number)
        first = number


def _is_in_foreground() -> bool:
    """Whether Ctrl-C in the terminal reaches the program without our help."""
    with contextlib.suppress(OSError), Path("/dev/tty").open("rb") as terminal:
        return os.tcgetpgrp(terminal.fileno()) == os.getpgrp()
    return False


def _end(process: subprocess.Popen[bytes], grace: float) -> None:
    """Make sure that the program has ended: asked first, where there is grace."""
    if process.poll() is not None:
        return
    if grace:
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(grace)
    process.kill()  # does nothing to what has ended
    process.wait()


_WHAT_SIGNALS_MEAN = {
    signal.SIGSEGV: Message("jit.segmentation-fault"),
    signal.SIGFPE: Message("jit.division-by-zero"),
    signal.SIGABRT: Message("jit.aborted"),
    signal.SIGBUS: Message("jit.bus-error"),
    signal.SIGILL: Message("jit.illegal-instruction"),
    signal.SIGKILL: Message("jit.killed"),
}


def _exit_code(code: int, name: str, how: Run) -> int:
    if code >= 0:
        return code
    number = -code
    with contextlib.suppress(ValueError):  # a real-time signal has no name
        kind = signal.Signals(number)
        if meaning := _WHAT_SIGNALS_MEAN.get(kind):
            how.tell(say("jit.died", name=name, signal=kind.name, meaning=meaning))
    return 128 + number
