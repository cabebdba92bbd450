"""How a problem set looks in the terminal once it was graded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from flashpath.course.workspace.sets import set_name
from flashpath.messages import say

if TYPE_CHECKING:
    from rich.console import Console

    from flashpath.course.learner.problem_sets import ProblemResult, SetGrade


def show_set(out: Console, graded: SetGrade) -> None:
    """Prints a line for each problem, what is wrong below it, and how many are left."""
    if graded.failure is not None:
        out.print(Text(graded.failure.text(), style="red"))
        for line in graded.details:
            out.print(Text(f"  {line}"))
    for result in graded.results:
        _show(out, result)
    solved, count = graded.solved, len(graded.results)
    name = set_name(graded.problem_set)
    if graded.passed:
        out.print(Text(say("cli.learning.set-solved", name=name, count=count), style="bold green"))
    else:
        out.print(Text(say("cli.learning.set-left", name=name, solved=solved, count=count), style="bold"))


def _show(out: Console, result: ProblemResult) -> None:
    mark = ("✓", "green") if result.solved else ("✗", "red") if result.is_wrong else ("·", "dim")
    line = Text.assemble(mark, f" {result.number:>2}  {result.problem.id}")
    if result.solved:
        out.print(line)
        return
    if result.grade is not None:
        out.print(line + Text(f": {result.grade.headline}"))
    elif result.answer is not None:
        out.print(line)
        if result.answer.line.code != "course.grader.item-unanswered":
            out.print(Text(f"      {result.answer.said}"))
    else:
        out.print(line + Text(f"  flashpath grade {result.problem.id}", style="dim"))
