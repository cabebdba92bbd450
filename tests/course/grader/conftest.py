"""A small course with one exercise of each kind, and a way to grade any text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from flashpath.course.content import Course, Exercise, load_course
from flashpath.course.grader import Grade, grade
from flashpath.messages import speaking

COURSE = Path(__file__).parent / "course"

GradeText = Callable[..., Grade]


@pytest.fixture(scope="session")
def course() -> Course:
    return load_course(COURSE)


@pytest.fixture(autouse=True)
def in_english() -> Iterator[None]:
    """English is spoken, unless a test says otherwise."""
    with speaking("en"):
        yield


@pytest.fixture
def grade_text(course: Course, tmp_path: Path) -> Iterator[GradeText]:
    """Grade a text as the answer to an exercise of the small course; its language is spoken from then on."""
    languages = ExitStack()

    def graded(name: str, text: str, lang: str = "en", seed: int | None = 1) -> Grade:
        languages.enter_context(speaking(lang))
        exercise = course.exercise(f"kinds/{name}")
        file = tmp_path / answer_name(exercise)
        file.write_text(text, encoding="utf-8")
        return grade(exercise, file, seed=seed)

    with languages:
        yield graded


def answer_name(exercise: Exercise) -> str:
    """The name of the file that a learner writes."""
    if exercise.solution is not None:
        return f"{exercise.name.replace('-', '_')}{exercise.solution.suffix}"
    return "note.md" if exercise.kind in ("note", "report") else "answers.toml"
