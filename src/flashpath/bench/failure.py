"""How a failed implementation is reported: one message, without a traceback.

What flashpath says of it is a message, which is shown in the language that is spoken and recorded in English;
what others say is a text.
"""

from __future__ import annotations

import re

from flashpath.errors import FlashpathError
from flashpath.messages import Message, told

# What a timed function may raise without ending the run: sys.exit() in it is its failure, Ctrl-C is not.
FAILURES = (Exception, SystemExit)


Reason = Message | str


def is_out_of_memory(reason: Reason | None) -> bool:
    """Whether that reason is a lack of memory, be it new or read from a record."""
    return shown(reason or "", "en").startswith(Message("bench.out-of-memory").text("en"))


def is_wrong(reason: Reason | None) -> bool:
    """Whether that reason is a wrong result."""
    return isinstance(reason, Message) and reason.code == "bench.refused"


def reason_of(error: BaseException) -> Reason:
    """Returns the error's own words; its kind in front, unless they were written for the reader already."""
    if isinstance(error, FlashpathError):
        return error.said
    message = str(error).strip()
    kind = type(error).__name__
    if kind == "OutOfMemoryError":  # torch's; its message goes on about processes and settings
        size = re.search(r"Tried to allocate ([\d.]+ \w+)", message)
        return told("bench.out-of-memory-for", size=size[1]) if size else told("bench.out-of-memory")
    if message.startswith("0 active drivers"):  # Triton's, where there is no GPU
        return told("bench.triton-wants-gpu")
    return f"{kind}: {message}" if message else kind


def shown(reason: Reason, lang: str | None = None) -> str:
    """Returns a reason and what to do about it, in the language that is spoken where none is named."""
    if isinstance(reason, str):
        return reason
    fix = reason.fix(lang)
    return f"{reason.text(lang)}\n  → {fix}" if fix else reason.text(lang)


def describe(error: BaseException) -> str:
    """Returns the error's words as they are shown."""
    return shown(reason_of(error))
