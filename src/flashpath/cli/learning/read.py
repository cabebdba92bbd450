"""`flashpath read`: the units, and the lesson of one in the terminal."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flashpath.cli import options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashpath.cli.learning.learner import Learner
    from flashpath.course.content import Unit

_WORDS = {
    "en": {
        "unit": "unit",
        "title": "title",
        "minutes": "minutes",
        "exercises": "exercises",
        "planned": "planned",
        "goals": "You will be able to:",
        "after": "after",
        "min": "min",
        "not yet": "This unit is not written yet.",
        "how": "flashpath read UNIT shows a lesson.",
    },
    "zh": {
        "unit": "单元",
        "title": "标题",
        "minutes": "分钟",
        "exercises": "练习",
        "planned": "计划中",
        "goals": "学完之后，你能：",
        "after": "先学",
        "min": "分钟",
        "not yet": "这个单元还没有写好。",
        "how": "flashpath read 单元 显示讲义。",
    },
}


def read(
    unit: Annotated[
        str | None, typer.Argument(help="A unit, such as first-kernel; without it, the list of all.")
    ] = None,
    lang: options.Lang = None,
    pager: Annotated[bool, typer.Option(help="Page through a lesson that is longer than the screen.")] = True,
    as_json: options.AsJson = False,
) -> None:
    """Read a lesson in the terminal; without a unit, list them all.

    Into a pipe it is Markdown.

    Examples:

        flashpath read

        flashpath read first-kernel

        flashpath read 03-coalescing --lang zh > coalescing.md
    """
    from flashpath.cli.learning.learner import learning

    with learning(lang, must_keep=False) as learner:
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
    words = _WORDS[lang]
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in ("unit", "title", "minutes", "exercises"):
        table.add_column(words[name], justify="right" if name in ("minutes", "exercises") else "left")
    for each in units:
        count = str(len(each.exercise_names)) if each.is_ready else words["planned"]
        row = (each.id, each.title.in_(lang), str(each.minutes or "–"), count)
        table.add_row(*map(Text, row), style=None if each.is_ready else "dim")
    out = console()
    print_table(out, table)
    out.print(words["how"], markup=False)


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
    words = _WORDS[lang]
    goals = "\n".join(f"- {each}" for each in unit.goals.in_(lang))
    if not unit.is_ready:
        return f"# {unit.title.in_(lang)}\n\n*{words['not yet']}*\n\n{words['goals']}\n\n{goals}\n"
    body = markdown(learner.course, load_lesson(unit, lang), link=lambda name: _place(learner, name))
    title, _, rest = body.partition("\n")
    needs = f" · {words['after']} {', '.join(unit.prerequisites)}" if unit.prerequisites else ""
    facts = f"*{unit.id} · {unit.minutes} {words['min']}{needs}*"
    return f"{title}\n\n{facts}\n\n{words['goals']}\n\n{goals}\n{rest}"


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
