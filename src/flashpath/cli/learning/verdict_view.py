"""How a verdict looks in the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

if TYPE_CHECKING:
    from rich.console import Console

    from flashpath.course.grader import Grade
    from flashpath.course.learner import Learner


def show_grade(out: Console, learner: Learner, grade: Grade, path: Path) -> None:
    """Prints the verdict, why, and what the mistake looks like."""
    mark = Text("✓ ", style="bold green") if grade.passed else Text("✗ ", style="bold red")
    out.print(Text() + mark + Text(f"{grade.exercise}: ", style="bold") + Text(grade.headline))
    out.print(Text("  ") + linked(learner, path))
    for line in grade.details:
        out.print(Text(f"  {line}"))
    if grade.misconception:
        out.print(Text(f"  → {grade.misconception}", style="yellow"))


def linked(learner: Learner, path: Path) -> Text:
    """Returns a path that terminals let one click."""
    return Text(learner.shown(path), style=f"cyan link {path.resolve().as_uri()}")
