"""`grade`: one answer to one exercise, judged by the judge of its kind."""

from __future__ import annotations

import time
from pathlib import Path

from flashpath.course.answer_file import read_answer
from flashpath.course.content.exercise import Exercise
from flashpath.course.grader.cases import fresh_seed
from flashpath.course.grader.verdict import Grade, Judged
from flashpath.errors import FlashpathError
from flashpath.messages import Message, told


def grade(
    exercise: Exercise,
    submission: Path,
    *,
    seed: int | None = None,
    source: str | None = None,
    work_folder: Path | None = None,
) -> Grade:
    """Returns the verdict on the file `submission`.

    `source` is the text of the file, where it was read already. Every run draws a seed of its own; `seed` is
    for tests. In the work folder, and beside it, guided reading looks for the clone that is read.
    """
    start = time.perf_counter()
    if source is None:
        source = read_answer(submission, exercise.id)
    if exercise.kind == "read":
        from flashpath.course.grader import reading

        judged = reading.judge(exercise, source, submission, work_folder)
    else:
        judged = _judge(exercise, source, submission, fresh_seed() if seed is None else seed)
    failure = judged.failure
    return Grade(
        exercise=exercise.id,
        passed=failure is None,
        reason=failure.reason if failure else None,
        summary=failure.headline if failure else judged.headline or _headline(judged),
        lines=failure.details if failure else judged.lines,
        hint=judged.hint if failure else None,
        cases=judged.cases,
        goals=judged.goals,
        seconds=time.perf_counter() - start,
    )


def _judge(exercise: Exercise, source: str, file: Path, seed: int) -> Judged:
    # Each judge is imported when it is needed: a quiz needs no sandbox.
    if exercise.kind in ("kernel", "debug") and exercise.language in ("cuda", "triton"):
        from flashpath.course.grader import kernel

        return kernel.judge(exercise, source, file, seed)
    if exercise.kind == "program":
        from flashpath.course.grader import program

        return program.judge(exercise, source, file, seed)
    if exercise.kind in ("kernel", "derive"):
        from flashpath.course.grader import function

        return function.judge(exercise, source, file, seed)
    if exercise.kind == "predict":
        from flashpath.course.grader import predict

        return predict.judge(exercise, source, file, seed)
    if exercise.kind == "quiz":
        from flashpath.course.grader import answers

        return answers.judge(exercise, source, file)
    if exercise.kind in ("note", "report"):
        from flashpath.course.grader import notes

        return notes.judge(exercise, source)
    raise FlashpathError("course.grader.nothing-grades", id=exercise.id, kind=exercise.kind)


def _headline(judged: Judged) -> Message:
    if judged.goals:
        return told("course.grader.passed-goals", cases=judged.cases, goals=len(judged.goals))
    if judged.cases > 1:
        return told("course.grader.passed", cases=judged.cases)
    return told("course.grader.passed-one")
