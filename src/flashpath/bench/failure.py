"""How a failed implementation is reported: one message, without a traceback."""

from __future__ import annotations

from flashpath.errors import FlashpathError

# What a timed function may raise without ending the run: sys.exit() in it is its failure, Ctrl-C is not.
FAILURES = (Exception, SystemExit)


def describe(error: BaseException) -> str:
    """The error's own words; its kind in front, unless they were written for the reader already."""
    message = str(error).strip()
    if isinstance(error, FlashpathError):
        return message
    kind = type(error).__name__
    return f"{kind}: {message}" if message else kind
