"""`flashpath solution`: a right answer and its explanation, after passing or giving up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from flashpath.cli.options import AsJson, Lang
from flashpath.errors import FlashpathError

if TYPE_CHECKING:
    from flashpath.course.content import Exercise

_LEXERS = {"cuda": "cuda", "triton": "python", "pytorch": "python", "python": "python"}
_WIDEST = 100


def solution(
    exercise: Annotated[
        str | None,
        typer.Argument(help="first-kernel/saxpy, or its file; by default the one that was last changed."),
    ] = None,
    give_up: Annotated[
        bool, typer.Option("--give-up", help="Show it before you have passed; that is noted.")
    ] = False,
    lang: Lang = None,
    as_json: AsJson = False,
) -> None:
    """Show a solution and its explanation: once you have passed, or with --give-up.

    Examples:

        flashpath solution first-kernel/saxpy

        flashpath solution first-kernel/saxpy --give-up
    """
    from flashpath.cli.learning.learner import learning
    from flashpath.cli.output import console, print_json

    with learning(lang) as learner:
        found = learner.exercise(exercise)
        passed = found.id in learner.store.passes()
        if not passed and not give_up and found.id not in learner.store.given_up():
            raise FlashpathError(
                learner.say(f"{found.id} is not passed yet.", f"{found.id} 还没有通过。"),
                learner.say(
                    f"A hint: flashpath hint {found.id}. To see the solution all the same: add --give-up.",
                    f"看提示：flashpath hint {found.id}。一定要看答案：加上 --give-up。",
                ),
            )
        explanation = _explanation(found, learner.lang)
        if found.solution is None and not explanation:
            raise FlashpathError(
                learner.say(
                    f"{found.id} ({found.kind}) has no solution to show.",
                    f"{found.id}（{found.kind}）没有可以展示的答案。",
                ),
                f"flashpath read {found.unit}",
            )
        if not passed:
            learner.store.give_up(found.id)
    text = found.solution_text() if found.solution is not None else ""
    if as_json:
        print_json(
            {
                "exercise": found.id,
                "file": str(found.solution) if found.solution else None,
                "solution": text,
                "explanation": explanation,
                "given_up": not passed,
            }
        )
        return
    out = console()
    if not out.is_terminal:
        typer.echo("\n".join(part for part in (text, explanation) if part))
        return
    from rich.markdown import Markdown
    from rich.syntax import Syntax

    width = min(out.width, _WIDEST)
    if text:
        out.print(Syntax(text, _LEXERS.get(found.language or "python", "text"), background_color="default"))
    if explanation:
        out.print(Markdown(explanation), width=width, soft_wrap=False)


def _explanation(exercise: Exercise, lang: str) -> str:
    """The explanation, and what was to be answered to each question."""
    from flashpath.course.state.quiz import Asked

    parts = [exercise.explanation(lang)]
    parts += [f"**{each.ask.in_(lang)}**\n\n{each.explain.in_(lang)}" for each in exercise.questions]
    for item in exercise.items:
        answer = Asked(item, ()).right_answer(lang)
        parts += [f"**{item.ask.in_(lang)}**", f"→ {answer}" if answer else "", item.explain.in_(lang)]
    return "\n\n".join(part.strip() for part in parts if part.strip())
