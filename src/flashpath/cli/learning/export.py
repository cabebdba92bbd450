"""`flashpath export`: a portfolio of what was done, or one kernel with its report for somebody's review."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from flashpath.cli.options import AsJson, Lang
from flashpath.messages import say


def export(
    into: Annotated[Path | None, typer.Argument(help=say("cli.learning.export-into"))] = None,
    review: Annotated[str | None, typer.Option(help=say("cli.learning.export-review"))] = None,
    lang: Lang = None,
    as_json: AsJson = False,
) -> None:
    """Makes a folder of Markdown: notes, passed kernels with their grades, progress, the log."""
    from flashpath.cli.learning.opening import learning
    from flashpath.cli.output import print_json
    from flashpath.course.learner.portfolio import Folder, write_portfolio, write_review

    with learning(lang) as learner:
        if review is not None:
            exercise = learner.exercise(review)
            place = into or Path(f"review-{exercise.id.replace('/', '-')}")
            with Folder(learner, place) as folder:
                write_review(learner, exercise, folder)
        else:
            place = into or Path("portfolio")
            with Folder(learner, place) as folder:
                write_portfolio(learner, folder)
        if as_json:
            print_json({"folder": str(folder.place), "files": folder.files})
        else:
            typer.echo(
                say(
                    "cli.learning.export-done",
                    count=len(folder.files),
                    place=place,
                    first=place / "README.md",
                )
            )
