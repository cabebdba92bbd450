"""`flashpath export`: a portfolio of what was done, or one kernel with its report for somebody's review."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from flashpath.cli.options import AsJson, Lang


def export(
    into: Annotated[
        Path | None, typer.Argument(help="The folder to make; by default portfolio, or review-EXERCISE.")
    ] = None,
    review: Annotated[
        str | None, typer.Option(help="Bundle this exercise's kernel with its report and a review checklist.")
    ] = None,
    lang: Lang = None,
    as_json: AsJson = False,
) -> None:
    """Make a folder of Markdown to show: notes, passed kernels with their grades, progress, the log.

    A folder that is there is made anew only if an earlier export made it.

    Examples:

        flashpath export

        flashpath export ~/my-portfolio --lang zh

        flashpath export --review first-kernel/saxpy
    """
    from flashpath.cli.learning.learner import learning
    from flashpath.cli.learning.portfolio import Folder, write_portfolio, write_review
    from flashpath.cli.output import print_json

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
            print_json({"folder": str(place.resolve()), "files": folder.files})
        else:
            typer.echo(
                learner.say(
                    f"{len(folder.files)} files in {place}; begin with {place / 'README.md'}",
                    f"{place} 中有 {len(folder.files)} 个文件；从 {place / 'README.md'} 看起",
                )
            )
