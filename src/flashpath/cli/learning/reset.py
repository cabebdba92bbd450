"""`flashpath reset`: begin an exercise anew; the old version is kept."""

from __future__ import annotations

from typing import Annotated

import typer

from flashpath.cli.options import AsJson, Lang
from flashpath.messages import say


def reset(
    exercise: Annotated[str, typer.Argument(help=say("cli.learning.reset-exercise"))],
    yes: Annotated[bool, typer.Option("--yes", "-y", help=say("cli.learning.reset-yes"))] = False,
    bring_back: Annotated[
        bool, typer.Option("--bring-back", help=say("cli.learning.reset-bring-back"))
    ] = False,
    lang: Lang = None,
    as_json: AsJson = False,
) -> None:
    """Puts the exercise's file back to its beginning; --bring-back writes again what it replaced."""
    from flashpath.cli.learning.opening import learning
    from flashpath.cli.output import print_json
    from flashpath.course.learner.answers import put_back, text_before_reset

    with learning(lang) as learner:
        chosen, path = learner.find(exercise)
        shown = learner.shown(path)
        text = text_before_reset(learner, chosen) if bring_back else None
        if (
            not bring_back
            and path.exists()
            and not yes
            and not typer.confirm(say("cli.learning.reset-ask", file=shown), err=True)
        ):
            raise typer.Exit(1)
        put_back(learner, chosen, path, text)
        if as_json:
            print_json({"exercise": chosen.id, "path": str(path), "brought_back": bring_back})
        else:
            typer.echo(
                say("cli.learning.reset-undone" if bring_back else "cli.learning.reset-done", file=shown)
            )
