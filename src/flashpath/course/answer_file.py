"""The text of an answer, read once, from a plain file of a size that a person writes."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from flashpath.errors import FlashpathError

MOST_BYTES = 4 << 20


def answer_text(path: Path) -> str:
    """Returns the text; some editors put a mark before its first line.

    What is no plain file is refused: a pipe waits for its other end, and shows another text every time.
    """
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(handle, "rb") as opened:
        mode = os.fstat(handle).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(path)
        if not stat.S_ISREG(mode):
            raise FlashpathError("course.grader.no-plain-file", file=path)
        text = opened.read(MOST_BYTES + 1)
    if len(text) > MOST_BYTES:
        raise FlashpathError("course.grader.too-large", file=path, most=MOST_BYTES)
    return text.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
