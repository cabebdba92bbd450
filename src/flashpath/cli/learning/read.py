"""`flashpath read`: the units, and the lesson of one in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from flashpath.cli import options
from flashpath.messages import say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashpath.course.content import Unit


def read(
    unit: Annotated[str | None, typer.Argument(help=say("cli.learning.read-unit"))] = None,
    lang: options.Lang = None,
    pager: Annotated[bool, typer.Option(help=say("cli.learning.read-pager"))] = True,
    as_json: options.AsJson = False,
) -> None:
    """Shows a lesson, or a page that lessons name; without either, lists the units."""
    from flashpath.cli.learning.markdown import print_markdown
    from flashpath.cli.learning.opening import learning
    from flashpath.cli.output import print_json
    from flashpath.course.learner.guides import ROOM, page_text
    from flashpath.course.learner.reading import lesson_data, lesson_text, unit_data

    with learning(lang, must_keep=False, must_show=False) as learner:
        course = learner.course
        if unit is not None and unit.startswith(ROOM):
            text = page_text(unit, learner.lang)
            if as_json:
                print_json({"page": unit, "markdown": text})
            else:
                print_markdown(text, pager=pager)
        elif as_json:
            if unit is None:
                print_json([unit_data(each, learner.lang) for each in course.units])
            else:
                print_json(lesson_data(learner, course.unit(unit)))
        elif unit is None:
            _list(course.units, learner.lang)
        else:
            print_markdown(lesson_text(learner, course.unit(unit)), pager=pager)


def _list(units: Sequence[Unit], lang: str) -> None:
    from rich.table import Table
    from rich.text import Text

    from flashpath.cli.output import console, print_table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(say("cli.learning.read-column-unit"))
    table.add_column(say("cli.learning.read-column-title"))
    table.add_column(say("cli.learning.read-column-minutes"), justify="right")
    table.add_column(say("cli.learning.read-column-exercises"), justify="right")
    for each in units:
        count = str(len(each.exercise_names)) if each.is_ready else say("course.workspace.planned-short")
        row = (each.id, each.title.in_(lang), str(each.minutes or "–"), count)
        table.add_row(*map(Text, row), style=None if each.is_ready else "dim")
    out = console()
    print_table(out, table)
    out.print(say("cli.learning.read-how"), markup=False)
