"""`flashpath next`: what to do now, and with which command."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from flashpath.cli.quick import Option

if TYPE_CHECKING:
    from flashpath.cli.learning.learner import Learner
    from flashpath.course.state.progress import Next

_TASKS_SHOWN = 5


def next_thing(
    lang: Annotated[str | None, Option(help="en or zh; by default FLASHPATH_LANG, or the folder's.")] = None,
    as_json: Annotated[bool, Option("--json", help="Print JSON.")] = False,
) -> int:
    """Say what to do now: the next exercise of the track with its file, and tasks that are still to tick.

    Examples:

        flashpath next

        flashpath next --lang zh

        flashpath next --json
    """
    from flashpath.cli.learning.learner import learning

    with learning(lang) as learner:
        coming = learner.progress().next()
        due = len(learner.store.reviews.due())
        if as_json:
            from flashpath.cli.output import print_json

            print_json(_as_json(learner, coming, due))
        else:
            _show(learner, coming, due)
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


def _show(learner: Learner, coming: Next | None, due: int) -> None:
    from rich.text import Text

    from flashpath.cli.output import console

    say = learner.say
    out = console()
    if coming is None:
        track = learner.track.title.in_(learner.lang)
        out.print(Text(say(f"{track}: everything is done.", f"{track}：全部完成。"), style="bold green"))
        out.print(say("  flashpath export   makes a portfolio of it", "  flashpath export   生成作品集"))
    else:
        _show_place(learner, coming)
        for line in _exercise_lines(learner, coming):
            out.print(line)
        _show_tasks(learner, coming)
    if due:
        questions = say(f"{due} questions are due again", f"有 {due} 道题该复习了")
        out.print(Text() + Text("  flashpath review", style="cyan") + Text(f"   {questions}"))


def _show_place(learner: Learner, coming: Next) -> None:
    from rich.text import Text

    from flashpath.cli.output import console

    week, day = coming.week, coming.day
    place = learner.say(f"Week {week.number}", f"第 {week.number} 周")
    place += f" · {week.title.in_(learner.lang)}"
    if day is not None:
        place += learner.say(f" · day {day.number}", f" · 第 {day.number} 天")
        place += f" · {day.title.in_(learner.lang)}"
    console().print(Text(place, style="dim"))


def _exercise_lines(learner: Learner, coming: Next) -> list[Any]:
    from pathlib import Path

    from rich.text import Text

    from flashpath.cli.learning.grading import linked

    if coming.exercise is None or coming.unit is None:
        return []
    say = learner.say
    exercise = learner.course.exercise(coming.exercise)
    title = exercise.title.in_(learner.lang)
    minutes = say(f"about {exercise.minutes} min", f"约 {exercise.minutes} 分钟")
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
            + Text(say(f"   the lesson first: {unit}", f"   先读讲义：{unit}"))
        )
    if exercise.kind == "quiz":
        what = say("   answer the questions", "   回答问题")
        lines.append(Text() + Text(f"  flashpath review {coming.unit.name}", style="cyan") + Text(what))
        return lines
    path = _path(learner, coming)
    if path is not None:
        lines.append(Text("  ") + linked(learner, Path(path)))
    lines.append(
        Text()
        + Text(f"  flashpath grade {exercise.id}", style="cyan")
        + Text(say("   or: flashpath watch", "   或者：flashpath watch"))
    )
    return lines


def _show_tasks(learner: Learner, coming: Next) -> None:
    from rich.text import Text

    from flashpath.cli.output import console

    out = console()
    if coming.tasks:
        out.print(learner.say("To do and to tick:", "待完成并打勾："))
    for task in coming.tasks[:_TASKS_SHOWN]:
        command = f"flashpath progress --tick {task.id}"
        if task.done_by is not None:
            command = f"flashpath note --name {task.done_by.partition(':')[2]}"
        out.print(Text(f"  □ {task.do.in_(learner.lang)}  ") + Text(command, style="dim"))
    more = len(coming.tasks) - _TASKS_SHOWN
    if more > 0:
        out.print(
            learner.say(f"  and {more} more: flashpath progress", f"  还有 {more} 项：flashpath progress"),
        )
