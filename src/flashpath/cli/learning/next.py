"""`flashpath next`: what to do now, and with which command."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from flashpath.cli.quick import Option
from flashpath.course.workspace.titles import day_name, week_name
from flashpath.messages import say

if TYPE_CHECKING:
    from flashpath.course.learner import Learner
    from flashpath.course.state.progress import Next, Progress

_TASKS_SHOWN = 5
_UNITS_SHOWN = 4


def next_thing(
    lang: Annotated[str | None, Option(help=say("cli.option-lang"))] = None,
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
    from rich.text import Text

    from flashpath.cli.output import console
    from flashpath.course.learner.overview import open_checkpoints

    out = console()
    if coming is None or coming.exercise is None:
        _show_end(learner, progress)
    if coming is not None:
        _show_place(learner, coming)
        for line in _exercise_lines(learner, coming):
            out.print(line)
        _show_tasks(learner, coming)
    reviews = {"": say("cli.next-due", count=due)} if (due := len(learner.store.reviews.due())) else {}
    for unit, count in open_checkpoints(learner).items():
        reviews[f" {unit}"] = say("cli.next-checkpoint", count=count)
    for unit, questions in reviews.items():
        out.print(Text() + Text(f"  flashpath review{unit}", style="cyan") + Text(f"   {questions}"))


def _show_end(learner: Learner, progress: Progress) -> None:
    """Prints what is done, what is planned, and what can be done meanwhile."""
    from rich.text import Text

    from flashpath.cli.output import console

    out = console()
    count = progress.of_track()
    title = learner.track.title.in_(learner.lang)
    if count.is_done and not count.planned:
        out.print(Text(say("cli.next-done", track=title), style="bold green"))
        out.print(say("cli.next-export"))
        return
    said = say("cli.next-all-passed", track=title, count=count.exercises)
    out.print(Text(said, style="bold green"))
    if count.planned:
        names = [unit.title.in_(learner.lang) for unit in progress.planned_units()]
        more = " …" if len(names) > _UNITS_SHOWN else ""
        out.print(say("cli.next-planned", count=count.planned, names=names[:_UNITS_SHOWN]) + more)
    for command, meaning in (
        ("flashpath ladder", say("cli.next-ladder")),
        ("flashpath run", say("cli.next-programs")),
        ("flashpath review", say("cli.next-review")),
        ("flashpath export", say("cli.next-portfolio")),
    ):
        out.print(Text() + Text(f"  {command:<18}", style="cyan") + Text(meaning))


def _show_place(learner: Learner, coming: Next) -> None:
    from rich.text import Text

    from flashpath.cli.output import console

    week, day = coming.week, coming.day
    parts = [week_name(week.number), week.title.in_(learner.lang)]
    if day is not None:
        parts += [day_name(day.number), day.title.in_(learner.lang)]
    place = " · ".join(parts)
    console().print(Text(place, style="dim"))


def _exercise_lines(learner: Learner, coming: Next) -> list[Any]:
    from pathlib import Path

    from rich.text import Text

    from flashpath.cli.learning.verdict_view import linked
    from flashpath.course.learner.overview import answer_path

    if coming.exercise is None or coming.unit is None:
        return []
    exercise = learner.course.exercise(coming.exercise)
    title = exercise.title.in_(learner.lang)
    minutes = say("cli.about-minutes", minutes=exercise.minutes)
    lines = [
        Text()
        + Text(f"{exercise.id}", style="bold")
        + Text(f"  {title}  ({learner.kind(exercise)}, {minutes})")
    ]
    if coming.is_new_unit:
        unit = coming.unit.title.in_(learner.lang)
        lines.append(
            Text()
            + Text(f"  flashpath read {coming.unit.name}", style="cyan")
            + Text(say("cli.next-lesson-first", unit=unit))
        )
    if exercise.kind == "quiz":
        what = say("cli.next-answer-questions")
        lines.append(Text() + Text(f"  flashpath review {coming.unit.name}", style="cyan") + Text(what))
        return lines
    path = answer_path(learner, coming)
    if path is not None:
        lines.append(Text("  ") + linked(learner, Path(path)))
    lines.append(
        Text() + Text(f"  flashpath grade {exercise.id}", style="cyan") + Text(say("cli.next-or-watch"))
    )
    return lines


def _show_tasks(learner: Learner, coming: Next) -> None:
    from rich.text import Text

    from flashpath.cli.output import console

    out = console()
    if coming.tasks:
        out.print(say("cli.next-to-tick"))
    for task in coming.tasks[:_TASKS_SHOWN]:
        command = f"flashpath progress --tick {task.id}"
        if task.done_by is not None:
            command = f"flashpath note --name {task.done_by.partition(':')[2]}"
        out.print(Text(f"  □ {task.do.in_(learner.lang)}  ") + Text(command, style="dim"))
    more = len(coming.tasks) - _TASKS_SHOWN
    if more > 0:
        out.print(
            say("cli.next-more-tasks", more=more),
        )
