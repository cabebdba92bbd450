"""One standard input for several runs of a program: each is given it from its beginning."""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import stat
from collections.abc import Generator
from pathlib import Path
from threading import Thread

_PIECE = 65_536


class SharedInput:
    """Keeps what comes in as it is passed on.

    A file is copied at once. A pipe may never end: a run is given what was kept of it, and after that what
    comes, as it comes. A terminal every run has for itself: what is typed into it is not played again.
    """

    def __init__(self, kept: Path, source: int = 0) -> None:
        self._kept = kept
        self._source = source
        try:
            mode = os.fstat(source).st_mode
            self._is_own = os.isatty(source)
        except OSError:  # closed: so it is for the program
            self._is_own = True
            return
        self._ended = not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode))
        with kept.open("wb") as copy:
            if self._ended and not self._is_own:
                shutil.copyfileobj(os.fdopen(source, "rb", closefd=False), copy)

    @contextlib.contextmanager
    def opened(self) -> Generator[int]:
        """The standard input of one run."""
        if self._is_own:
            yield self._source
        elif self._ended:
            with self._kept.open("rb") as copy:
                yield copy.fileno()
        else:
            with self._fed() as pipe:
                yield pipe

    @contextlib.contextmanager
    def _fed(self) -> Generator[int]:
        taken, given = os.pipe()
        stopped, stop = os.pipe()
        feeder = Thread(target=self._feed, args=(given, stopped), daemon=True)
        feeder.start()
        try:
            yield taken
        finally:
            os.close(stop)
            os.close(taken)  # what waits for room in the pipe ends by this
            feeder.join()
            os.close(stopped)

    def _feed(self, given: int, stopped: int) -> None:
        # Without a reader a write is to fail: the signal, which is this thread's, would end the process.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGPIPE})
        with contextlib.suppress(BrokenPipeError), os.fdopen(given, "wb", buffering=0) as pipe:
            with self._kept.open("rb") as copy:
                shutil.copyfileobj(copy, pipe)
            with self._kept.open("ab", buffering=0) as copy:
                while not self._ended:
                    ready, _, _ = select.select([self._source, stopped], [], [])
                    if stopped in ready:
                        return
                    piece = os.read(self._source, _PIECE)
                    self._ended = not piece
                    copy.write(piece)
                    pipe.write(piece)
