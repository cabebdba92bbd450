"""`flashpath read`: the units, and the lesson of one in the terminal."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flashpath.cli import options
from flashpath.messages import say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashpath.course.content import Unit
    from flashpath.course.learner import Learner


def read(
    unit: Annotated[str | None, typer.Argument(help=say("cli.learning.read-unit"))] = None,
    lang: options.Lang = None,
    pager: Annotated[bool, typer.Option(help=say("cli.learning.read-pager"))] = True,
    as_json: options.AsJson = False,
) -> None:
    """Shows a lesson in the terminal; without a unit, lists them all. Into a pipe it is Markdown."""
    from flashpath.cli.learning.opening import learning

    with learning(lang, must_keep=False, must_show=False) as learner:
        if unit is None:
            _list(learner.course.units, learner.lang, as_json)
        else:
            _show(learner, learner.course.unit(unit), pager, as_json)


def _list(units: Sequence[Unit], lang: str, as_json: bool) -> None:
    from rich.table import Table
    from rich.text import Text

    from flashpath.cli.output import console, print_json, print_table

    if as_json:
        print_json([_facts(each, lang) for each in units])
        return
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


def _show(learner: Learner, unit: Unit, pager: bool, as_json: bool) -> None:
    from flashpath.cli.output import print_json

    text = _lesson(learner, unit)
    if as_json:
        print_json({**_facts(unit, learner.lang), "markdown": text, "exercise_ids": unit.exercise_ids})
        return
    from flashpath.cli.learning.markdown import print_markdown

    print_markdown(text, pager=pager)


def _lesson(learner: Learner, unit: Unit) -> str:
    """The lesson with a line on what it takes; of a planned unit, its goals."""
    from flashpath.course.content.directives import markdown
    from flashpath.course.content.lesson import load_lesson

    lang = learner.lang
    goals = "\n".join([say("cli.learning.read-goals"), "", *(f"- {goal}" for goal in unit.goals.in_(lang))])
    if not unit.is_ready:
        return _planned(unit, lang, goals)
    body = markdown(learner.course, load_lesson(unit, lang), link=lambda name: _place(learner, name))
    title, _, rest = body.partition("\n")
    facts = [unit.id, say("course.workspace.minutes", count=unit.minutes)]
    if unit.prerequisites:
        facts.append(say("cli.learning.read-after", units=unit.prerequisites))
    return f"{title}\n\n*{' · '.join(facts)}*\n\n{goals}\n{rest}"


def _planned(unit: Unit, lang: str, goals: str) -> str:
    """Returns what is known of a unit that is not written, and what there is of it already."""
    from flashpath.course.learner.planned import ways

    parts = [f"# {unit.title.in_(lang)}", "*" + say("cli.learning.read-not-yet") + "*", goals]
    if meanwhile := ways(unit):
        parts += [
            say("cli.learning.read-meanwhile"),
            "\n".join(f"- `{way}`: {what.text()}" for way, what in meanwhile),
        ]
    return "\n\n".join(parts) + "\n"


def _place(learner: Learner, exercise: str) -> str | None:
    """Where a terminal leads from an exercise: to the learner's own file, else to the task."""
    from flashpath.errors import FlashpathError

    found = learner.course.exercise(exercise)
    if learner.workspace is not None:
        with contextlib.suppress(FlashpathError):  # the folder has no such exercise
            return learner.workspace.file(exercise).resolve().as_uri()
    return None if found.kind == "quiz" else (found.folder / f"task.{learner.lang}.md").resolve().as_uri()


def _facts(unit: Unit, lang: str) -> dict[str, Any]:
    return {
        "unit": unit.id,
        "title": unit.title.in_(lang),
        "status": unit.status,
        "minutes": unit.minutes,
        "goals": unit.goals.in_(lang),
        "prerequisites": unit.prerequisites,
        "exercises": unit.exercise_names,
        "checkpoints": [{"id": each.id, "ask": each.ask.in_(lang)} for each in unit.checkpoints],
    }
