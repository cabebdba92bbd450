"""Single keys from a terminal, which is as it was before on every way out.

The terminal gives each key at once and shows none (`cbreak`); Ctrl-C and Ctrl-Z stay signals. It is put back
when the block ends, however it ends: by return, exception, Ctrl-C, a signal that ends the process, or the end
of Python; and for the time of a stop by Ctrl-Z. Of SIGKILL no process hears: `stty sane` mends that.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import re
import select
import signal
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Any, Self, TypeVar

_ESCAPE = re.compile(rb"\x1b(\[[0-?]*[ -/]*[@-~]|O.|.)?", re.DOTALL)
_ENDING = ("SIGTERM", "SIGHUP", "SIGQUIT")

T = TypeVar("T")


class _Pressed(KeyboardInterrupt):
    """A key was pressed that stops what runs, as Ctrl-C would."""


class Keys:
    """`with Keys() as keys:`; where the input is no terminal, there are no keys, only waiting."""

    def __init__(self, *, wanted: bool = True) -> None:
        self.is_terminal = wanted and sys.stdin.isatty() and sys.stdout.isatty() and sys.platform != "win32"
        self.was_stopped = False
        """The process was stopped by Ctrl-Z and goes on: the screen is to be drawn again."""
        self._before: list[Any] | None = None
        self._handlers: dict[signal.Signals, Any] = {}
        self._left = b""
        self._is_stoppable = False

    def __enter__(self) -> Self:
        # Ending signals become an exception, with which every block is left in order.
        for name in _ENDING:
            if hasattr(signal, name):
                self._handle(getattr(signal, name), self._end)
        if self.is_terminal:
            import termios

            self._before = termios.tcgetattr(sys.stdin.fileno())
            atexit.register(self._put_back)
            self._handle(signal.SIGTSTP, self._stop)
            self._handle(signal.SIGUSR1, self._interrupt)
            self._take()
        return self

    def __exit__(self, *_: object) -> None:
        self._put_back()
        atexit.unregister(self._put_back)
        for each, handler in self._handlers.items():
            signal.signal(each, handler)
        self._handlers.clear()

    def wait(self, seconds: float) -> str | None:
        """A key that is pressed within this time; None where there was none."""
        if not self.is_terminal:
            time.sleep(seconds)
            return None
        if not self._left:
            ready, _, _ = select.select([sys.stdin.fileno()], [], [], seconds)
            if not ready:
                return None
            self._left = os.read(sys.stdin.fileno(), 64)
            if not self._left:  # the terminal is gone
                raise SystemExit(128 + signal.SIGHUP)
        key, self._left = _first_key(self._left)
        return key

    def unless_pressed(self, stopping: str, work: Callable[[], T]) -> T | None:
        """Do the work; None where one of these keys stopped it, which `wait` gives next."""
        if not self.is_terminal:
            return work()
        quit_reading, end_of_work = os.pipe()
        listener = threading.Thread(
            target=self._listen, args=(stopping, quit_reading, threading.get_ident()), daemon=True
        )
        try:
            try:
                self._is_stoppable = True
                listener.start()
                return work()
            finally:
                self._is_stoppable = False
        except _Pressed:
            return None
        finally:
            os.close(end_of_work)
            if listener.ident is not None:  # else a signal came before it was started
                listener.join()
            os.close(quit_reading)

    def _listen(self, stopping: str, until: int, main: int) -> None:
        """Beside the work: read keys until one stops it, or until it is done."""
        terminal = sys.stdin.fileno()
        while True:
            rest = self._left
            while rest:
                key, after = _first_key(rest)
                if key is not None and key.lower() in stopping:
                    self._left = rest
                    signal.pthread_kill(main, signal.SIGUSR1)  # ends a wait in the main thread, too
                    return
                rest = after
            self._left = b""  # keys that mean nothing
            try:
                ready, _, _ = select.select([terminal, until], [], [])
                if until in ready:
                    return
                self._left = os.read(terminal, 64)
            except (OSError, ValueError):
                # The terminal is gone, of which a signal tells; or a signal came while this thread was being
                # started, so that nobody waited for it before `until` was closed.
                return
            if not self._left:
                return

    def _interrupt(self, _: int, __: FrameType | None) -> None:
        if self._is_stoppable:  # else the work was done just before
            self._is_stoppable = False
            raise _Pressed

    def _handle(self, number: signal.Signals, handler: Any) -> None:
        before = signal.getsignal(number)
        if before != signal.SIG_IGN:  # as nohup and shells ask for
            self._handlers[number] = before
            signal.signal(number, handler)

    def _end(self, number: int, _: FrameType | None) -> None:
        raise SystemExit(128 + number)

    def _stop(self, number: int, _: FrameType | None) -> None:
        """Ctrl-Z: the shell gets its terminal as it was; on going on, it is taken again."""
        self._put_back()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
        # Here it goes on, after SIGCONT.
        signal.signal(number, self._stop)
        self._take()
        self.was_stopped = True

    def _take(self) -> None:
        import tty

        tty.setcbreak(sys.stdin.fileno())

    def _put_back(self) -> None:
        if self._before is not None:
            import termios

            with contextlib.suppress(termios.error, ValueError):  # the terminal may be gone
                termios.tcsetattr(sys.stdin.fileno(), termios.TCSADRAIN, self._before)


def _first_key(typed: bytes) -> tuple[str | None, bytes]:
    """The key that was typed first, None where it means nothing; and what was typed after it."""
    escape = _ESCAPE.match(typed)
    if escape is not None:  # an arrow or function key: several bytes
        return None, typed[escape.end() :]
    size = next((n for n in range(1, 5) if _is_character(typed[:n])), 1)
    return typed[:size].decode("utf-8", "replace"), typed[size:]


def _is_character(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
