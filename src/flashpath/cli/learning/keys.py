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
import time
from types import FrameType
from typing import Any, Self

_ESCAPE = re.compile(rb"\x1b(\[[0-?]*[ -/]*[@-~]|O.|.)?", re.DOTALL)
_ENDING = ("SIGTERM", "SIGHUP", "SIGQUIT")


class Keys:
    """`with Keys() as keys:`; where the input is no terminal, there are no keys, only waiting."""

    def __init__(self, *, wanted: bool = True) -> None:
        self.is_terminal = wanted and sys.stdin.isatty() and sys.stdout.isatty() and sys.platform != "win32"
        self.was_stopped = False
        """The process was stopped by Ctrl-Z and goes on: the screen is to be drawn again."""
        self._before: list[Any] | None = None
        self._handlers: dict[signal.Signals, Any] = {}
        self._left = b""

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
        escape = _ESCAPE.match(self._left)
        if escape is not None:  # an arrow or function key: several bytes that mean nothing here
            self._left = self._left[escape.end() :]
            return None
        size = next((n for n in range(1, 5) if _is_character(self._left[:n])), 1)
        key, self._left = self._left[:size], self._left[size:]
        return key.decode("utf-8", "replace")

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


def _is_character(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
