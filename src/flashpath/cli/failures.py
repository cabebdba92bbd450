"""How a command tells that it failed: on stderr, without a traceback, and by its exit code."""

from __future__ import annotations

import contextlib
import os
import sys

from flashpath.errors import FlashpathError, MissingDevice


def tell(text: str) -> None:
    """Print it on stderr."""
    with contextlib.suppress(OSError):  # there is nowhere left to complain
        print(text, file=sys.stderr, flush=True)


def tell_failure(error: FlashpathError | OSError) -> int:
    """Say what went wrong; returns the exit code that stands for it."""
    tell(f"error: {file_error(error) if isinstance(error, OSError) else error}")
    return 3 if isinstance(error, MissingDevice) else 1


def file_error(error: OSError) -> str:
    """What the operating system said, with the file's name."""
    why = error.strerror or str(error) or type(error).__name__
    return f"{os.fsdecode(error.filename)}: {why}" if error.filename else why
