"""`flashpath` with the small course of the tests and a grader that reads words; or `-c CODE` beside them."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

from flashpath import settings
from flashpath.errors import FlashpathError
from flashpath.messages import Message, Reader

_content_dir = settings.content_dir


def content_dir(name: str) -> Path:
    return Path(os.environ["TEST_COURSE"]) if name == "course" else _content_dir(name)


class Told(Message):
    """A message whose sentence is its own."""

    def text(self, lang: str | None = None, reader: Reader = "caller") -> str:
        return str(self.params["text"])

    def fix(self, lang: str | None = None, reader: Reader = "caller") -> str | None:
        return "Write something else."


def told(text: str) -> Message:
    return Told("messages.or", {"text": text})


def grade(exercise: Any, submission: Path, *, source: str, work_folder: Path | None) -> Any:
    """Passes what holds "right"; what holds "slow" takes long."""
    from flashpath.course.grader import Grade
    from flashpath.course.grader.verdict import Hint
    from flashpath.messages import Text

    text = source
    if "slow" in text:
        Path(os.environ["FLASHPATH_HOME"], "grading").touch()
        time.sleep(60)
    if "crash" in text:
        raise ZeroDivisionError("a bug of the grader's")
    if "refused" in text:
        error = FlashpathError("messages.or")
        error.said = told("it is refused")
        raise error
    passed = "right" in text
    return Grade(
        exercise=exercise.id,
        passed=passed,
        reason=None if passed else "wrong",
        summary=told("all is well" if passed else "y[3] is 1.0, expected 2.0"),
        lines=("a detail [with brackets]",),
        hint=None if passed else Hint("copy", Text("it looks like a copy", "看起来像复制")),
        seconds=0.1,
    )


def main() -> None:
    from flashpath import cli

    settings.content_dir = content_dir
    if sys.argv[1] not in ("next", "progress"):  # whose time is measured, and which grade nothing
        from flashpath.course import grader

        grader.grade = grade
    cli.main()


if __name__ == "__main__":
    main()
