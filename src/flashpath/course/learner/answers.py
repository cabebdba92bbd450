"""Help with an answer: hints, solutions, and its file put back to the beginning."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from flashpath.course.content.text import as_markdown
from flashpath.errors import FlashpathError

if TYPE_CHECKING:
    from flashpath.course.content import Exercise
    from flashpath.course.learner.learner import Learner


def next_hint(learner: Learner, exercise: Exercise, number: int | None = None) -> tuple[int, str]:
    """Returns the hint's number and its text; where all were seen, the last one again."""
    if not exercise.hints:
        raise FlashpathError("course.no-hints", exercise=exercise.id, unit=exercise.unit)
    seen = learner.store.hints_seen(exercise.id)
    coming = min(seen + 1, len(exercise.hints))
    shown = coming if number is None else number
    if shown > coming:
        raise FlashpathError(
            "course.hint-too-early", exercise=exercise.id, number=shown, seen=seen, count=len(exercise.hints)
        )
    learner.store.see_hint(exercise.id, shown)
    return shown, exercise.hints[shown - 1].in_(learner.lang)


def solution(learner: Learner, exercise: Exercise, *, give_up: bool) -> tuple[str, str]:
    """Returns the solution and its explanation: once the exercise is passed, or given up, which is noted."""
    passed = exercise.id in learner.store.passes()
    if not passed and not give_up and exercise.id not in learner.store.given_up():
        raise FlashpathError("course.solution-not-passed", exercise=exercise.id)
    explanation = _explanation(exercise, learner.lang)
    if exercise.solution is None and not explanation:
        raise FlashpathError(
            "course.no-solution", exercise=exercise.id, kind=learner.kind(exercise), unit=exercise.unit
        )
    if not passed:
        learner.store.give_up(exercise.id)
    return exercise.solution_text() if exercise.solution is not None else "", explanation


def _explanation(exercise: Exercise, lang: str) -> str:
    """Returns the explanation, and of each question what was to be answered."""
    from flashpath.course.state.quiz import Asked

    parts = [exercise.explanation(lang)]
    for question in exercise.questions:
        parts += [f"**{as_markdown(question.ask.in_(lang))}**", question.explain.in_(lang)]
    for item in exercise.items:
        right = Asked(item, ()).right_answer(lang)
        parts += [f"**{as_markdown(item.ask.in_(lang))}**", f"→ {as_markdown(right)}" if right else ""]
        parts += [as_markdown(item.explain.in_(lang))]
    return "\n\n".join(part.strip() for part in parts if part.strip())


def put_back(learner: Learner, exercise: Exercise, path: Path, text: str | None = None) -> None:
    """Writes the beginning, or `text`, in place of what is there, which is kept first."""
    from flashpath.course.workspace.writing import write_whole

    new = learner.beginning(exercise) if text is None else text
    if path.exists():
        old = path.read_text(encoding="utf-8", errors="surrogateescape")
        if old == new:
            return
        learner.store.keep_file(exercise.id, path, old)
    write_whole(path, new.encode("utf-8", "surrogateescape"))


def text_before_reset(learner: Learner, exercise: Exercise) -> str:
    """Returns what the last reset of the exercise replaced."""
    kept = learner.store.kept_files(exercise.id)
    text = learner.store.text_of(kept[-1].submission) if kept else None
    if text is None:
        raise FlashpathError("course.never-reset", exercise=exercise.id)
    return text
