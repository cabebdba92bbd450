"""What comes next, and how far a track is done, as JSON can hold it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from flashpath.course.content.proof import NOTE, RAN, SEEN, SET
from flashpath.course.learner.review import finished_checkpoints
from flashpath.course.workspace.sets import set_name

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flashpath.course.content import Checkpoint, Day, Task, Week
    from flashpath.course.learner.learner import Learner
    from flashpath.course.state.progress import Count, Next, Progress


# ---- What comes next -----------------------------------------------------------------------------------


def next_data(learner: Learner, coming: Next | None) -> dict[str, Any]:
    """Returns what to do now: the exercise and its command, tasks, questions that are due, checkpoints."""
    data: dict[str, Any] = {"track": learner.track.name, "done": coming is None}
    if coming is not None:
        data |= {
            "week": coming.week.number,
            "day": coming.day.number if coming.day else None,
            "unit": coming.unit.name if coming.unit else None,
            "exercise": coming.exercise,
            "read_first": coming.is_new_unit,
            "path": answer_path(learner, coming),
            "command": command(coming),
            "tasks": [
                {
                    "id": task.id,
                    "do": task.do.in_(learner.lang),
                    "done_by": _proof(task),
                    "command": command_of_task(learner, task),
                }
                for task in coming.tasks
            ],
        }
    return data | {
        "reviews_due": len(learner.store.reviews.due()),
        "checkpoints": open_checkpoints(learner),
    }


def answer_path(learner: Learner, coming: Next) -> str | None:
    """Returns the file in which the next exercise is answered; a quiz has none."""
    if coming.exercise is None or coming.exercise.endswith("/quiz") or learner.workspace is None:
        return None
    return str(learner.workspace.file(coming.exercise))


def command(coming: Next) -> str | None:
    """Returns the command with which the next exercise begins."""
    if coming.exercise is None or coming.unit is None:
        return None
    if coming.is_new_unit:
        return f"flashpath read {coming.unit.name}"
    if coming.exercise.endswith("/quiz"):
        return f"flashpath review {coming.unit.name}"
    return f"flashpath grade {coming.exercise}"


def command_of_task(learner: Learner, task: Task) -> str:
    """Returns what a learner types for a task that no exercise stands for."""
    proof = task.done_by
    if proof is not None and proof.kind == NOTE:
        return f"flashpath note --name {proof.name}"
    if proof is not None and proof.kind == SET:
        return f"flashpath grade {set_name(learner.track.problem_set(proof.name))}"
    if proof is not None and proof.kind == SEEN:
        return _command_to_see(learner, proof.name)
    return f"flashpath progress --tick {task.id}"


def _command_to_see(learner: Learner, name: str) -> str:
    if not name.startswith(RAN):
        return "flashpath doctor"
    program, space, arguments = name.removeprefix(RAN).partition(" ")
    files = learner.workspace.root.rglob(program) if learner.workspace is not None else ()
    path = learner.shown(next(iter(files), Path(program)))
    return f"flashpath run {path}" + (f" -- {arguments}" if space else "")


def open_checkpoints(learner: Learner) -> dict[str, int]:
    """Returns how many questions each finished unit of the track still asks at its checkpoint."""
    units = map(learner.course.unit, learner.track.units)
    names = [question.unit.name for question in finished_checkpoints(learner, units)]
    return {name: names.count(name) for name in names}


# ---- How far it is done --------------------------------------------------------------------------------


def progress_data(learner: Learner, state: Progress) -> dict[str, Any]:
    """Returns a track beside what is done of it: counts, weeks, days, tasks, checkpoints, time."""
    lang, study = learner.lang, learner.store.study
    track = state.track

    def asked(checkpoints: Iterable[Checkpoint], prefix: str = "", **more: str) -> list[dict[str, Any]]:
        names = {prefix + each.id: each.ask.in_(lang) for each in checkpoints}
        return [
            {"id": name, **more, "ask": ask, "ticked": state.is_ticked(name)} for name, ask in names.items()
        ]

    return {
        "track": track.name,
        "title": track.title.in_(lang),
        "count": _count(state.of_track()),
        "streak_days": study.streak(),
        "seconds": round(study.seconds(track.name)),
        "seconds_by_day": {day: round(spent) for day, spent in study.seconds_by_day(track.name).items()},
        "reviews_due": len(learner.store.reviews.due()),
        "passed": sorted(state.passed),
        "given_up": sorted(state.given_up),
        "weeks": [_week(state, week, lang) for week in track.weeks],
        "checkpoints": [
            question
            for stage in track.stages
            for question in asked(stage.checkpoints, stage=stage.title.in_(lang))
        ],
        "unit_checkpoints": [
            question
            for unit in map(learner.course.unit, track.units)
            for question in asked(unit.checkpoints, f"{unit.name}/")
        ],
    }


def _week(state: Progress, week: Week, lang: str) -> dict[str, Any]:
    units = map(state.course.unit, week.all_units)
    return {
        **_part(state, week, state.of_week(week), lang),
        "units": [
            {"name": unit.name, "status": unit.status, "count": _count(state.of_unit(unit))} for unit in units
        ],
        "days": [_part(state, day, state.of_day(day), lang) for day in week.days],
    }


def _part(state: Progress, part: Week | Day, count: Count, lang: str) -> dict[str, Any]:
    """Returns what a week and a day have in common."""
    return {
        "number": part.number,
        "title": part.title.in_(lang),
        "count": _count(count),
        "tasks": [
            {"id": task.id, "do": task.do.in_(lang), "done": state.is_done(task), "done_by": _proof(task)}
            for task in part.tasks
        ],
    }


def _proof(task: Task) -> str | None:
    return None if task.done_by is None else str(task.done_by)


def _count(count: Count) -> dict[str, int]:
    names = ("done", "total", "exercises_done", "exercises", "tasks_done", "tasks")
    return {name: getattr(count, name) for name in names} | {"planned_units": count.planned}
