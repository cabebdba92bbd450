"""`flashpath hint`: one more hint each time, of three."""

from __future__ import annotations

from typing import Annotated

import typer

from flashpath.cli.options import AsJson, Lang
from flashpath.messages import say


def hint(
    exercise: Annotated[str | None, typer.Argument(help=say("cli.learning.hint-exercise"))] = None,
    number: Annotated[int | None, typer.Option(help=say("cli.learning.hint-number"), min=1)] = None,
    lang: Lang = None,
    as_json: AsJson = False,
) -> None:
    """Shows the next hint: what to look at, the idea, almost the line."""
    from flashpath.cli.learning.opening import learning
    from flashpath.cli.output import console, print_json
    from flashpath.course.learner.answers import next_hint

    with learning(lang) as learner:
        chosen = learner.exercise(exercise)
        shown, text = next_hint(learner, chosen, number)
        count = len(chosen.hints)
        if as_json:
            print_json({"exercise": chosen.id, "number": shown, "of": count, "hint": text})
            return
        out = console()
        title = say("cli.learning.hint-title", number=shown, count=count)
        out.print(f"{chosen.id}: {title}", style="bold", markup=False)
        out.print(text, markup=False)
        if shown == count:
            out.print(say("cli.learning.hint-last", exercise=chosen.id), style="dim")
