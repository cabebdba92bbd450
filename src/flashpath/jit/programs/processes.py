"""Processes that a run has started, also those that it has left behind: found by what they inherit."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path

_PROC = Path("/proc")


def carrying(variable: str, value: str) -> list[int]:
    """The processes whose environment has the variable with that value."""
    wanted = f"{variable}={value}".encode()
    found: list[int] = []
    for place in _PROC.iterdir():
        if place.name.isdecimal():
            with contextlib.suppress(OSError):  # gone meanwhile, or another user's
                if wanted in (place / "environ").read_bytes().split(b"\0"):
                    found.append(int(place.name))
    return found


def kill_carrying(variable: str, value: str) -> list[int]:
    """End them at once; tells which there were."""
    found = carrying(variable, value)
    for pid in found:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
    return found
