"""What a learner's file begins with, and what it is called."""

from __future__ import annotations

from flashpath.course.content import Exercise
from flashpath.course.content.comments import commented

ANSWERS = "answers.toml"
_BY_TEMPLATE = ("note", "report")


def file_name(exercise: Exercise) -> str:
    """saxpy.cu, softmax.py, answers.toml, or the note's name."""
    if exercise.kind in _BY_TEMPLATE:
        return f"{exercise.name}.md"
    if exercise.skeleton is None:
        return ANSWERS
    return f"{exercise.name}{exercise.skeleton.suffix}"


def beginning(exercise: Exercise, lang: str) -> str:
    """The skeleton, the template, or the questions to answer."""
    if exercise.kind in _BY_TEMPLATE:
        return exercise.template(lang)
    if exercise.skeleton is not None:
        return commented(exercise.skeleton, lang)
    from flashpath.course.grader.answers import answers_template

    return answers_template(exercise, lang)
