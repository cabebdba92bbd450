"""A problem set in a work folder: its page, and the file in which its questions are answered."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

from flashpath.course.content import Exercise, Problem, ProblemSet
from flashpath.course.content.text import as_markdown, kind_name
from flashpath.course.workspace import pages
from flashpath.messages import LANGUAGES, say, speaking

_UNIT = "sets"  # of the file of answers: what stands where exercises have their unit


def set_name(problem_set: ProblemSet) -> str:
    """What a set is called in commands: exercises/01, in the language that is spoken."""
    return f"{say('course.workspace.exercises')}/{problem_set.number}"


def number_in(name: str) -> str | None:
    """The number in what somebody calls a set: `exercises/01`, `练习/01`, its page or its file of answers."""
    path = Path(name)
    number = re.match(r"\d+(?=\D|$)", path.name)
    return number[0] if number is not None and path.parent.name in _folder_names() else None


def _folder_names() -> set[str]:
    names: set[str] = set()
    for lang in LANGUAGES:
        with speaking(lang):
            names.add(say("course.workspace.exercises"))
    return names


def answers_of(problem_set: ProblemSet) -> Exercise:
    """The questions of a set as a quiz of their own, each with its unit in its id."""
    items = tuple(
        dataclasses.replace(problem.question, id=problem.id)
        for problem in problem_set.problems
        if problem.question is not None
    )
    return Exercise(
        unit=_UNIT,
        name=problem_set.id,
        kind="quiz",
        title=problem_set.title,
        minutes=max(5, len(items)),
        folder=Path(),
        items=items,
    )


def set_page(site: pages.Site, problem_set: ProblemSet, page: str, answers: str) -> str:
    """All problems by number: questions with their options, exercises with their files and commands."""
    file = site.link(page, answers, answers.rpartition("/")[2])
    parts = [
        f"# {problem_set.title.in_(site.lang)}",
        say("course.workspace.how-to-solve", name=set_name(problem_set), answers=file),
    ]
    for number, problem in enumerate(problem_set.problems, 1):
        is_question = problem.question is not None
        text = _question(problem, site.lang) if is_question else _exercise(problem, site, page)
        parts.append(f"{number}. {text}")
    return pages.joined(parts)


def _question(problem: Problem, lang: str) -> str:
    from flashpath.course.grader.answers import shown_options

    assert problem.question is not None
    item = dataclasses.replace(problem.question, id=problem.id)
    options = [
        f"   {count}) {text}" for count, text in enumerate(map(as_markdown, shown_options(item, lang)), 1)
    ]
    asked = as_markdown(item.ask.in_(lang)).strip().replace("\n", "\n   ")
    return f"{asked} (`{problem.id}`)\n" + ("\n" + "\n".join(options) if options else "")


def _exercise(problem: Problem, site: pages.Site, page: str) -> str:
    exercise = site.course.exercise(problem.id)
    link = site.link(page, f"{site.exercise_folder(exercise)}/README.md", exercise.title.in_(site.lang))
    kind = kind_name(exercise.kind, site.lang)
    minutes = say("course.workspace.minutes", count=exercise.minutes)
    return f"**{kind}** {link} ({minutes}, `flashpath grade {exercise.id}`)"
