"""`flashpath solution`: a right answer and its explanation, after passing or giving up."""

from __future__ import annotations

from typing import Annotated

import typer

from flashpath.cli.options import AsJson, Lang
from flashpath.messages import say

_LEXERS = {"cuda": "cuda", "triton": "python", "pytorch": "python", "python": "python"}
_WIDEST = 100


def solution(
    exercise: Annotated[str | None, typer.Argument(help=say("cli.learning.hint-exercise"))] = None,
    give_up: Annotated[bool, typer.Option("--give-up", help=say("cli.learning.solution-give-up"))] = False,
    lang: Lang = None,
    as_json: AsJson = False,
) -> None:
    """Shows a solution and its explanation: once you have passed, or with --give-up."""
    from flashpath.cli.learning.opening import learning
    from flashpath.cli.output import console, print_json
    from flashpath.course.learner import answers

    with learning(lang) as learner:
        chosen = learner.exercise(exercise)
        text, explanation = answers.solution(learner, chosen, give_up=give_up)
        passed = chosen.id in learner.store.passes()
    if as_json:
        print_json(
            {
                "exercise": chosen.id,
                "file": str(chosen.solution) if chosen.solution else None,
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
        out.print(Syntax(text, _LEXERS.get(chosen.language or "python", "text"), background_color="default"))
    if explanation:
        out.print(Markdown(explanation), width=width, soft_wrap=False)
