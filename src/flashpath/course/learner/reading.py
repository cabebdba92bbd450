"""A unit to read: its lesson, or what there is of it before the lesson is written."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from flashpath import settings
from flashpath.errors import FlashpathError
from flashpath.messages import say

if TYPE_CHECKING:
    from flashpath.course.content import Unit
    from flashpath.course.learner.learner import Learner

Way = tuple[str, str]
"""A command or a page, and what it is for."""


def unit_data(unit: Unit, lang: str) -> dict[str, Any]:
    """Returns what is known of a unit, as JSON can hold it."""
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


def lesson_data(learner: Learner, unit: Unit) -> dict[str, Any]:
    """Returns a unit and its lesson, as JSON can hold it."""
    text = lesson_text(learner, unit)
    return {**unit_data(unit, learner.lang), "markdown": text, "exercise_ids": unit.exercise_ids}


def lesson_text(learner: Learner, unit: Unit) -> str:
    """Returns the lesson with a line on what it takes; of a planned unit, its goals and what can be done."""
    from flashpath.course.content.directives import markdown
    from flashpath.course.content.lesson import load_lesson

    lang = learner.lang
    goals = "\n".join([say("course.read-goals"), "", *(f"- {goal}" for goal in unit.goals.in_(lang))])
    if not unit.is_ready:
        parts = [f"# {unit.title.in_(lang)}", "*" + say("course.read-not-yet") + "*", goals]
        if meanwhile := ways(unit, lang):
            lines = [f"- `{way}`: {what}" for way, what in meanwhile]
            parts += [say("course.read-meanwhile"), "\n".join(lines)]
        return "\n\n".join(parts) + "\n"
    body = markdown(learner.course, load_lesson(unit, lang), link=lambda name: _place(learner, name))
    title, _, rest = body.partition("\n")
    facts = [unit.id, say("course.workspace.minutes", count=unit.minutes)]
    if unit.prerequisites:
        facts.append(say("course.read-after", units=unit.prerequisites))
    return f"{title}\n\n*{' · '.join(facts)}*\n\n{goals}\n{rest}"


def ways(unit: Unit, lang: str) -> list[Way]:
    """Returns the commands and pages that are of use before the unit's lesson is written."""
    found = [(f"flashpath run programs/{program}", say("course.way-program")) for program in unit.programs]
    found += [(f"flashpath ladder {name}", say("course.way-ladder")) for name in _ladders(unit)]
    if unit.has_quiz:
        found.append((f"flashpath review {unit.name}", say("course.way-quiz", count=len(unit.quiz))))
    docs = settings.content_dir("docs")
    for name in unit.docs:
        page = docs / f"{name}.{lang}.md"
        page = page if page.exists() else docs / f"{name}.md"
        found.append((str(page), page.read_text(encoding="utf-8").partition("\n")[0].lstrip("# ")))
    return found


def _ladders(unit: Unit) -> list[str]:
    """Returns the ladders of which a rung is named that exists."""
    from flashpath.kernels import ladders

    known = set(ladders())
    return [name for name in dict.fromkeys(rung.partition("/")[0] for rung in unit.rungs) if name in known]


def _place(learner: Learner, exercise: str) -> str | None:
    """Returns where a terminal leads from an exercise: to the learner's own file, else to the task."""
    found = learner.course.exercise(exercise)
    if learner.workspace is not None:
        with contextlib.suppress(FlashpathError):  # the folder has no such exercise
            return learner.workspace.file(exercise).resolve().as_uri()
    return None if found.kind == "quiz" else (found.folder / f"task.{learner.lang}.md").resolve().as_uri()
