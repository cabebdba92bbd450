"""How a command tells that it failed: on stderr, without a traceback, and by its exit code.

With --json it tells on stdout too, for the program that reads it: `{"error": …, "fix": …}`, on one line.
"""

from __future__ import annotations

import contextlib
import os
import sys

from flashpath.errors import FlashpathError, MissingDevice
from flashpath.messages import say


def tell(text: str) -> None:
    """Print it on stderr."""
    with contextlib.suppress(OSError):  # there is nowhere left to complain
        print(text, file=sys.stderr, flush=True)


def warn(text: object) -> None:
    """Print it on stderr as a warning."""
    tell(say("cli.warning", what=text))


def tell_failure(error: FlashpathError | OSError) -> int:
    """Say what went wrong; returns the exit code that stands for it."""
    tell(say("cli.error", what=file_error(error) if isinstance(error, OSError) else error))
    if isinstance(error, OSError):
        tell_program(file_error(error), None)
    else:
        tell_program(error.problem, error.fix)
    return 3 if isinstance(error, MissingDevice) else 1


def tell_program(problem: str, fix: str | None) -> None:
    """Say it as JSON on stdout, where that was asked for."""
    words = sys.argv[1:]
    if "--json" not in (words[: words.index("--")] if "--" in words else words):
        return
    import json

    # ASCII, whatever the output's encoding is. Where nobody reads it, the words on stderr have to do.
    with contextlib.suppress(OSError):
        print(json.dumps({"error": problem, "fix": fix}), flush=True)


def file_error(error: OSError) -> str:
    """What the operating system said, with the file's name."""
    why = error.strerror or str(error) or type(error).__name__
    return f"{os.fsdecode(error.filename)}: {why}" if error.filename else why
