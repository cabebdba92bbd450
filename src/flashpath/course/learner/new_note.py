"""A note that is begun: its name, and the template that it begins with."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from flashpath import settings
from flashpath.course.content.proof import NOTE, Proof
from flashpath.course.learner.note_templates import fill, has_template, template
from flashpath.course.learner.notes import place_of
from flashpath.course.workspace.titles import day_name, week_name
from flashpath.errors import FlashpathError

if TYPE_CHECKING:
    from flashpath.course.content import Task, Week
    from flashpath.course.learner.learner import Learner

_NO_NAME = "/\\:"  # what separates folders, here or where the work folder is taken to


def begin_note(
    learner: Learner,
    environment: Callable[[str], str],
    *,
    file: str | None = None,
    week: str | None = None,
    name: str | None = None,
) -> tuple[str, Path, bool]:
    """Begins the note on a source file, of a week or of that name, by default today's; never over another.

    `environment` writes the note on this machine in a language. Returns the note's name, its file, and
    whether it is new.
    """
    key, text = _chosen(learner, environment, file, week, name)
    path = place_of(learner.folder, key)
    if path.exists():
        return key, path, False
    content = text()
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with path.open("x", encoding="utf-8") as opened:
            opened.write(content)
    except FileExistsError:
        return key, path, False
    return key, path, True


def _chosen(
    learner: Learner,
    environment: Callable[[str], str],
    file: str | None,
    week: str | None,
    name: str | None,
) -> tuple[str, Callable[[], str]]:
    """Returns the name of the note, and what writes its beginning."""
    if file is not None:
        return f"source-{_plain(_flat(file), file)}", lambda: _source_file(learner, file)
    if name is not None and name.startswith("week-"):
        week = name.removeprefix("week-")
    if week is not None:
        chosen = _week(learner, week)
        return f"week-{week}", lambda: _weekly(learner, chosen)
    if name == "environment":
        return name, lambda: environment(learner.lang)
    if name is not None:
        return _plain(name, name), lambda: _named(learner, name)
    return time.strftime("%Y-%m-%d"), lambda: _daily(learner)


def _plain(name: str, given: str) -> str:
    """Returns the name, if it is one: a note lies among the notes, never where its name leads to."""
    if name.strip() and name.isprintable() and not name.startswith(".") and not set(name) & set(_NO_NAME):
        return name
    raise FlashpathError("course.note-name", given=given)


def _daily(learner: Learner) -> str:
    coming = learner.progress().next()
    place = ""
    if coming is not None:
        names = [week_name(coming.week.number)] + ([day_name(coming.day.number)] if coming.day else [])
        place = " · ".join([*names, (coming.day or coming.week).title.in_(learner.lang)])
    return fill("daily", learner.lang, date=time.strftime("%Y-%m-%d"), place=place)


def _week(learner: Learner, number: str) -> Week:
    for week in learner.track.weeks:
        if week.number == number:
            return week
    raise FlashpathError(
        "course.no-week",
        track=learner.track.name,
        week=number,
        known=[week.number for week in learner.track.weeks],
    )


def _weekly(learner: Learner, week: Week) -> str:
    lang = learner.lang
    goals = [f"- {goal}" for goal in (*week.goals.in_(lang), *week.outputs.in_(lang))]
    return fill("weekly", lang, week=week.number, title=week.title.in_(lang), goals="\n".join(goals))


def _source_file(learner: Learner, file: str) -> str:
    path = settings.expanded(file)
    return fill("source-file", learner.lang, name=path.name, path=file, version=_version(path))


def _version(path: Path) -> str:
    """Returns the commit of the repository that the file lies in, where it lies in one."""
    if not path.exists():
        return "?"
    try:
        done = subprocess.run(
            ["git", "-C", str(path.parent), "describe", "--always", "--tags"],
            capture_output=True,
            text=True,
            check=False,
            timeout=10,
        )
    except (OSError, subprocess.TimeoutExpired):
        return "?"
    return done.stdout.strip() or "?"


def _named(learner: Learner, name: str) -> str:
    """Begins with the template of that name, where there is one, else with the one of all notes."""
    if has_template(name, learner.lang):
        return template(name, learner.lang)
    task = _task(learner, name)
    title = name.replace("-", " ").capitalize()
    what = f"> {task.do.in_(learner.lang)}" if task is not None else ""
    return fill("note", learner.lang, title=title, task=what)


def _task(learner: Learner, name: str) -> Task | None:
    tasks = (task for _, _, task in learner.track.tasks())
    return next((task for task in tasks if task.done_by == Proof(NOTE, name)), None)


def _flat(file: str) -> str:
    """Returns a file's name, with its folder, which tells files of one name apart."""
    parts = [part for part in Path(file).parts[-2:] if part not in ("/", "..", ".", "~")]
    return "-".join(parts).replace(" ", "-")
