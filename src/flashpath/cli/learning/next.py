"""`flashpath next`: what to do now, and with which command."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from flashpath.cli.quick import Option
from flashpath.course.workspace.titles import day_name, week_name
from flashpath.messages import say

if TYPE_CHECKING:
    from rich.console import Console

    from flashpath.course.learner import Learner
    from flashpath.course.state.progress import Next, Progress

_TASKS_SHOWN = 5
_UNITS_SHOWN = 4


def next_thing(
    lang: Annotated[str | None, Option(help=say("cli.learning.option-lang"))] = None,
    as_json: Annotated[bool, Option("--json", help=say("cli.option-json"))] = False,
) -> int:
    """Says what to do now: the next exercise of the track with its file, and tasks that are still to tick."""
    from flashpath.cli.learning.opening import learning
    from flashpath.course.learner import overview

    with learning(lang, must_keep=False) as learner:
        progress = learner.progress()
        coming = progress.next()
        if as_json:
            from flashpath.cli.output import print_json

            print_json(overview.next_data(learner, coming))
        else:
            _show(learner, progress, coming)
    return 0


def _show(learner: Learner, progress: Progress, coming: Next | None) -> None:
    from flashpath.cli.output import console
    from flashpath.course.learner.overview import open_checkpoints

    out = console()
    if coming is None or coming.exercise is None:
        _show_end(out, learner, progress)
    if coming is not None:
        parts = [week_name(coming.week.number), coming.week.title.in_(learner.lang)]
        if coming.day is not None:
            parts += [day_name(coming.day.number), coming.day.title.in_(learner.lang)]
        out.print(" · ".join(parts), style="dim", markup=False)
        _show_exercise(out, learner, coming)
        _show_tasks(out, learner, coming)
    if due := len(learner.store.reviews.due()):
        _show_command(out, "flashpath review", "   " + say("cli.learning.next-due", count=due))
    for unit, count in open_checkpoints(learner).items():
        _show_command(
            out, f"flashpath review {unit}", "   " + say("cli.learning.next-checkpoint", count=count)
        )


def _show_command(out: Console, command: str, meaning: str) -> None:
    from rich.text import Text

    out.print(Text.assemble((f"  {command}", "cyan"), meaning))


def _show_end(out: Console, learner: Learner, progress: Progress) -> None:
    """Prints what is done, what is planned, and what can be done meanwhile."""
    count = progress.of_track()
    title = learner.track.title.in_(learner.lang)
    if count.is_done and not count.planned:
        out.print(say("cli.learning.next-done", track=title), style="bold green", markup=False)
        out.print(say("cli.learning.next-export"))
        return
    said = say("cli.learning.next-all-passed", track=title, count=count.exercises)
    out.print(said, style="bold green", markup=False)
    if count.planned:
        names = [unit.title.in_(learner.lang) for unit in progress.planned_units()]
        more = " …" if len(names) > _UNITS_SHOWN else ""
        out.print(say("cli.learning.next-planned", count=count.planned, names=names[:_UNITS_SHOWN]) + more)
    for command, meaning in (
        ("flashpath ladder", say("cli.learning.next-ladder")),
        ("flashpath run", say("cli.learning.next-programs")),
        ("flashpath review", say("cli.learning.next-review")),
        ("flashpath export", say("cli.learning.next-portfolio")),
    ):
        _show_command(out, f"{command:<18}", meaning)


def _show_exercise(out: Console, learner: Learner, coming: Next) -> None:
    from pathlib import Path

    from rich.text import Text

    from flashpath.cli.learning.verdict_view import linked
    from flashpath.course.learner.overview import answer_path

    if coming.exercise is None or coming.unit is None:
        return
    exercise = learner.course.exercise(coming.exercise)
    minutes = say("cli.learning.about-minutes", minutes=exercise.minutes)
    what = f"  {exercise.title.in_(learner.lang)}  ({learner.kind(exercise)}, {minutes})"
    out.print(Text.assemble((exercise.id, "bold"), what))
    if coming.is_new_unit:
        lesson = say("cli.learning.next-lesson-first", unit=coming.unit.title.in_(learner.lang))
        _show_command(out, f"flashpath read {coming.unit.name}", lesson)
    if exercise.kind == "quiz":
        _show_command(out, f"flashpath review {coming.unit.name}", say("cli.learning.next-answer-questions"))
        return
    if path := answer_path(learner, coming):
        out.print(Text("  ") + linked(learner, Path(path)))
    _show_command(out, f"flashpath grade {exercise.id}", say("cli.learning.next-or-watch"))


def _show_tasks(out: Console, learner: Learner, coming: Next) -> None:
    from rich.text import Text

    from flashpath.course.learner import overview

    if coming.tasks:
        out.print(say("cli.learning.next-to-tick"))
    for task in coming.tasks[:_TASKS_SHOWN]:
        command = overview.command_of_task(learner, task)
        out.print(Text.assemble(f"  □ {task.do.in_(learner.lang)}  ", (command, "dim")))
    if (more := len(coming.tasks) - _TASKS_SHOWN) > 0:
        out.print(say("cli.learning.next-more-tasks", more=more))
