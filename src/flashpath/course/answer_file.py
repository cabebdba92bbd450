"""The text of an answer, read once, from a plain file of a size that a person writes."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from flashpath.errors import FlashpathError

MOST_BYTES = 4 << 20


def read_answer(path: Path, exercise: str) -> str:
    """Returns the text of an answer; some editors put a mark before its first line.

    What is no plain file is refused: a pipe waits for its other end, and shows another text every time.
    """
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except FileNotFoundError:
        raise FlashpathError("course.no-answer-file", path=path, exercise=exercise) from None
    mode = os.fstat(handle).st_mode
    if not stat.S_ISREG(mode):
        os.close(handle)
        is_folder = stat.S_ISDIR(mode)
        raise FlashpathError("course.answer-is-folder" if is_folder else "course.answer-not-plain", path=path)
    with os.fdopen(handle, "rb") as opened:
        text = opened.read(MOST_BYTES + 1)
    if len(text) > MOST_BYTES:
        raise FlashpathError("course.answer-too-large", path=path, most=MOST_BYTES)
    try:
        return text.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        raise FlashpathError("course.answer-not-utf8", path=path, byte=error.start) from None
