"""Asking for a line: in a terminal, from a pipe, and to be stopped by Ctrl-C at any moment."""

from __future__ import annotations

import select
import sys

_LOOK_SECONDS = 0.2


def ask_line(prompt: str) -> str | None:
    """What was typed, without the end of the line; None at the end of the input."""
    sys.stdout.write(prompt)
    sys.stdout.flush()
    if sys.stdin.isatty() and sys.platform != "win32":
        # `input()` misses a signal that comes just before it waits, and then hears of it only after Enter.
        while not select.select([sys.stdin], [], [], _LOOK_SECONDS)[0]:
            pass
    line = sys.stdin.readline()
    return line.rstrip("\r\n") if line else None
