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
    lang: Annotated[str | None, Option(help=say("cli.learning.option-lang"))] = None,
    as_json: Annotated[bool, Option("--json", help=say("cli.option-json"))] = False,
) -> int:
    """Says what to do now: the next exercise of the track with its file, and tasks that are still to tick."""
    from flashpath.cli.learning.opening import learning

    with learning(lang, must_keep=False) as learner:
        progress = learner.progress()
        coming = progress.next()
        due = len(learner.store.reviews.due())
        if as_json:
            from flashpath.cli.output import print_json

            print_json(_as_json(learner, coming, due))
        else:
            _show(learner, progress, coming, due)
    return 0


def _as_json(learner: Learner, coming: Next | None, due: int) -> dict[str, Any]:
    if coming is None:
        return {"track": learner.track.name, "done": True, "reviews_due": due}
    path = _path(learner, coming)
    return {
        "track": learner.track.name,
        "done": False,
        "week": coming.week.number,
        "day": coming.day.number if coming.day else None,
        "unit": coming.unit.name if coming.unit else None,
        "exercise": coming.exercise,
        "read_first": coming.is_new_unit,
        "path": path,
        "command": _command(coming),
        "tasks": [
            {"id": each.id, "do": each.do.in_(learner.lang), "done_by": each.done_by} for each in coming.tasks
        ],
        "reviews_due": due,
    }


def _path(learner: Learner, coming: Next) -> str | None:
    if coming.exercise is None or coming.exercise.endswith("/quiz") or learner.workspace is None:
        return None
    return str(learner.workspace.file(coming.exercise))


def _command(coming: Next) -> str | None:
    if coming.exercise is None or coming.unit is None:
        return None
    if coming.is_new_unit:
        return f"flashpath read {coming.unit.name}"
    if coming.exercise.endswith("/quiz"):
        return f"flashpath review {coming.unit.name}"
    return f"flashpath grade {coming.exercise}"


def _show(learner: Learner, progress: Progress, coming: Next | None, due: int) -> None:
    from rich.text import Text

    from flashpath.cli.output import console

    out = console()
    if coming is None or coming.exercise is None:
        _show_end(learner, progress)
    if coming is not None:
        _show_place(learner, coming)
        for line in _exercise_lines(learner, coming):
            out.print(line)
        _show_tasks(learner, coming)
    if due:
        questions = say("cli.learning.next-due", count=due)
        out.print(Text() + Text("  flashpath review", style="cyan") + Text(f"   {questions}"))


def _show_end(learner: Learner, progress: Progress) -> None:
    """Prints what is done, what is planned, and what can be done meanwhile."""
    from rich.text import Text

    from flashpath.cli.output import console

    out = console()
    count = progress.of_track()
    title = learner.track.title.in_(learner.lang)
    if count.is_done and not count.planned:
        out.print(Text(say("cli.learning.next-done", track=title), style="bold green"))
        out.print(say("cli.learning.next-export"))
        return
    said = say("cli.learning.next-all-passed", track=title, count=count.exercises)
    out.print(Text(said, style="bold green"))
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

    if coming.exercise is None or coming.unit is None:
        return []
    exercise = learner.course.exercise(coming.exercise)
    title = exercise.title.in_(learner.lang)
    minutes = say("cli.learning.about-minutes", minutes=exercise.minutes)
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
            + Text(say("cli.learning.next-lesson-first", unit=unit))
        )
    if exercise.kind == "quiz":
        what = say("cli.learning.next-answer-questions")
        lines.append(Text() + Text(f"  flashpath review {coming.unit.name}", style="cyan") + Text(what))
        return lines
    path = _path(learner, coming)
    if path is not None:
        lines.append(Text("  ") + linked(learner, Path(path)))
    lines.append(
        Text()
        + Text(f"  flashpath grade {exercise.id}", style="cyan")
        + Text(say("cli.learning.next-or-watch"))
    )
    return lines


def _show_tasks(learner: Learner, coming: Next) -> None:
    from rich.text import Text

    from flashpath.cli.output import console

    out = console()
    if coming.tasks:
        out.print(say("cli.learning.next-to-tick"))
    for task in coming.tasks[:_TASKS_SHOWN]:
        command = f"flashpath progress --tick {task.id}"
        if task.done_by is not None:
            command = f"flashpath note --name {task.done_by.partition(':')[2]}"
        out.print(Text(f"  □ {task.do.in_(learner.lang)}  ") + Text(command, style="dim"))
    more = len(coming.tasks) - _TASKS_SHOWN
    if more > 0:
        out.print(
            say("cli.learning.next-more-tasks", more=more),
        )
