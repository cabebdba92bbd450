"""`flashpath hint`: one more hint each time, of three."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from flashpath.cli.options import AsJson, Lang
from flashpath.errors import FlashpathError

if TYPE_CHECKING:
    from flashpath.cli.learning.learner import Learner
    from flashpath.course.content import Exercise


def hint(
    exercise: Annotated[
        str | None,
        typer.Argument(help="first-kernel/saxpy, or its file; by default the one that was last changed."),
    ] = None,
    number: Annotated[int | None, typer.Option(help="Show this one again.", min=1)] = None,
    lang: Lang = None,
    as_json: AsJson = False,
) -> None:
    """Show the next hint: what to look at, the idea, almost the line.

    Examples:

        flashpath hint

        flashpath hint first-kernel/saxpy

        flashpath hint first-kernel/saxpy --number 1
    """
    from flashpath.cli.learning.learner import learning
    from flashpath.cli.output import console, print_json

    with learning(lang) as learner:
        found = learner.exercise(exercise)
        shown, text = next_hint(learner, found, number)
    if as_json:
        print_json({"exercise": found.id, "number": shown, "of": len(found.hints), "hint": text})
        return
    out = console()
    title = learner.say(f"hint {shown} of {len(found.hints)}", f"提示 {shown}/{len(found.hints)}")
    out.print(f"{found.id}: {title}", style="bold", markup=False)
    out.print(text, markup=False)
    if shown == len(found.hints):
        out.print(
            learner.say(
                f"That was the last one. The solution: flashpath solution {found.id} --give-up",
                f"这是最后一条提示。查看答案：flashpath solution {found.id} --give-up",
            ),
            style="dim",
        )


def next_hint(learner: Learner, exercise: Exercise, number: int | None = None) -> tuple[int, str]:
    """Which one, and its text; the last one again where all were seen."""
    if not exercise.hints:
        raise FlashpathError(
            learner.say(f"{exercise.id} has no hints.", f"{exercise.id} 没有提示。"),
            learner.say(
                f"Read the lesson: flashpath read {exercise.unit}", f"请阅读：flashpath read {exercise.unit}"
            ),
        )
    seen = learner.store.hints_seen(exercise.id)
    shown = min(seen + 1, len(exercise.hints)) if number is None else number
    if shown > min(seen + 1, len(exercise.hints)):
        raise FlashpathError(
            learner.say(
                f"Hint {shown} cannot be shown yet: {seen} of {len(exercise.hints)} were seen.",
                f"还不能看第 {shown} 条提示：共 {len(exercise.hints)} 条，已看 {seen} 条。",
            ),
            f"flashpath hint {exercise.id}",
        )
    learner.store.see_hint(exercise.id, shown)
    return shown, exercise.hints[shown - 1].in_(learner.lang)
