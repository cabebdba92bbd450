"""How a failed implementation is reported: one message, without a traceback."""

from __future__ import annotations

import re

from flashpath.errors import FlashpathError
from flashpath.messages import LANGUAGES, Message, say

# What a timed function may raise without ending the run: sys.exit() in it is its failure, Ctrl-C is not.
FAILURES = (Exception, SystemExit)


def is_out_of_memory(failure: str | None) -> bool:
    """Whether that failure, in whichever language it was recorded, is a lack of memory."""
    words = Message("bench.out-of-memory")
    return (failure or "").startswith(tuple(words.text(lang) for lang in LANGUAGES))


def describe(error: BaseException) -> str:
    """The error's own words; its kind in front, unless they were written for the reader already."""
    message = str(error).strip()
    if isinstance(error, FlashpathError):
        return message
    kind = type(error).__name__
    if kind == "OutOfMemoryError":  # torch's; its message goes on about processes and settings
        size = re.search(r"Tried to allocate ([\d.]+ \w+)", message)
        return say("bench.out-of-memory") + (say("bench.asked-for", size=size[1]) if size else "")
    return f"{kind}: {message}" if message else kind
