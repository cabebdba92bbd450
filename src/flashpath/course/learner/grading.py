"""Grading: what is tried is kept first, then graded, then the verdict is kept."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

from flashpath.course.answer_file import read_answer
from flashpath.course.state import StoreError
from flashpath.messages import Message, told

if TYPE_CHECKING:
    from flashpath.course.content import Exercise
    from flashpath.course.grader import Grade
    from flashpath.course.learner.learner import Learner


def grade_and_keep(learner: Learner, exercise: Exercise, path: Path) -> Grade:
    """The verdict on the file, kept with its text. Interrupted at any time, the text is kept all the same."""
    text = read_answer(path, exercise.id)
    if exercise.kind == "quiz" and _is_passed_in_review(learner, exercise, text):
        from flashpath.course.grader import Grade

        return Grade(exercise.id, True, None, told("course.quiz-passed-in-review"), cases=len(exercise.items))
    attempt: int | None = None
    with contextlib.suppress(StoreError):  # tried again with the verdict, and told if that fails too
        attempt = learner.store.begin_attempt(exercise.id, text)
    # The grader is slow to load, and the attempt need not wait for it.
    from flashpath.course.grader import grade

    work_folder = learner.workspace.root if learner.workspace is not None else None
    verdict = grade(exercise, path, source=text, work_folder=work_folder)
    try:
        if attempt is None:
            attempt = learner.store.begin_attempt(exercise.id, text)
        learner.store.finish_attempt(
            attempt,
            passed=verdict.passed,
            reason=verdict.reason,
            headline=verdict.headline,
            seconds=verdict.seconds,
            grade=verdict.to_json(),
        )
        if exercise.kind == "quiz" and verdict.passed:
            _ask_again_later(learner, exercise)
    except StoreError as error:
        learner.warn(error)
        learner.warn(Message("course.not-recorded"))
    return verdict


def _ask_again_later(learner: Learner, exercise: Exercise) -> None:
    """A quiz that was answered in its file: its questions come again as those of `review` do."""
    known = learner.store.reviews.all()
    for item in exercise.items:
        if f"{exercise.unit}/{item.id}" not in known:
            learner.store.reviews.answer(f"{exercise.unit}/{item.id}", True, "")


def _is_passed_in_review(learner: Learner, exercise: Exercise, text: str) -> bool:
    """Whether every question was answered right in `flashpath review`, and the file was left as it was."""
    try:
        return exercise.id in learner.store.passes() and text == learner.beginning(exercise)
    except StoreError:
        return False
