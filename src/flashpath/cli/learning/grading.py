"""Grading as commands do it: what is tried is kept first, then graded, then the verdict is kept and shown."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from flashpath.cli.failures import tell
from flashpath.course.state import StoreError
from flashpath.errors import FlashpathError

if TYPE_CHECKING:
    from rich.console import Console

    from flashpath.cli.learning.learner import Learner
    from flashpath.course.content import Exercise
    from flashpath.course.grader import Grade


def grade_and_keep(learner: Learner, exercise: Exercise, path: Path) -> Grade:
    """The verdict on the file, kept with its text. Interrupted at any time, the text is kept all the same."""
    text = read_answer(learner, exercise, path)
    attempt: int | None = None
    with contextlib.suppress(StoreError):  # tried again with the verdict, and told if that fails too
        attempt = learner.store.begin_attempt(exercise.id, text)
    # The grader is slow to load, and the attempt need not wait for it.
    from flashpath.course.grader import grade

    verdict = grade(exercise, path)
    try:
        if attempt is None:
            attempt = learner.store.begin_attempt(exercise.id, text)
        learner.store.finish_attempt(
            attempt,
            passed=verdict.passed,
            reason=verdict.reason,
            headline=verdict.headline,
            seconds=verdict.seconds,
            grade=verdict.to_json(),
        )
        if exercise.kind == "quiz" and verdict.passed:
            _ask_again_later(learner, exercise)
    except StoreError as error:
        tell(f"warning: {error}")
        tell(
            learner.say(
                "This verdict was not recorded. It holds all the same: grade again to have it kept.",
                "这次的评判没有记录下来，但结果有效：再评判一次即可记录。",
            )
        )
    return verdict


def _ask_again_later(learner: Learner, exercise: Exercise) -> None:
    """A quiz that was answered in its file: its questions come again as those of `review` do."""
    known = learner.store.reviews.all()
    for item in exercise.items:
        if f"{exercise.unit}/{item.id}" not in known:
            learner.store.reviews.answer(f"{exercise.unit}/{item.id}", True, "")


def read_answer(learner: Learner, exercise: Exercise, path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig", errors="surrogateescape")
    except FileNotFoundError:
        raise FlashpathError(
            learner.say(f"There is no file {path}.", f"找不到文件 {path}。"),
            learner.say(
                f"Begin it: flashpath reset {exercise.id}", f"重新生成：flashpath reset {exercise.id}"
            ),
        ) from None


def show_grade(out: Console, learner: Learner, grade: Grade, path: Path) -> None:
    """For people: the verdict, why, and what the mistake looks like."""
    mark = Text("✓ ", style="bold green") if grade.passed else Text("✗ ", style="bold red")
    out.print(Text() + mark + Text(f"{grade.exercise}: ", style="bold") + Text(grade.headline))
    out.print(Text("  ") + linked(learner, path))
    for line in grade.details:
        out.print(Text(f"  {line}"))
    if grade.misconception:
        out.print(Text(f"  → {grade.misconception}", style="yellow"))


def linked(learner: Learner, path: Path) -> Text:
    """A path that terminals let one click."""
    return Text(learner.shown(path), style=f"cyan link {path.resolve().as_uri()}")
