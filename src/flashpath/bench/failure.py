"""How a failed implementation is reported: one message, without a traceback."""

from __future__ import annotations

import re

from flashpath.errors import FlashpathError

OUT_OF_MEMORY = "out of memory"
# What a timed function may raise without ending the run: sys.exit() in it is its failure, Ctrl-C is not.
FAILURES = (Exception, SystemExit)


def describe(error: BaseException) -> str:
    """The error's own words; its kind in front, unless they were written for the reader already."""
    message = str(error).strip()
    if isinstance(error, FlashpathError):
        return message
    kind = type(error).__name__
    if kind == "OutOfMemoryError":  # torch's; its message goes on about processes and settings
        size = re.search(r"Tried to allocate ([\d.]+ \w+)", message)
        return OUT_OF_MEMORY + (f": {size[1]} more were asked for" if size else "")
    return f"{kind}: {message}" if message else kind
