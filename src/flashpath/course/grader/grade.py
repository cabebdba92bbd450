"""`grade`: one answer to one exercise, judged by the judge of its kind."""

from __future__ import annotations

import time
from pathlib import Path

from flashpath import settings
from flashpath.course.content.exercise import Exercise
from flashpath.course.grader.cases import fresh_seed
from flashpath.course.grader.texts import say
from flashpath.course.grader.verdict import CountFailed, Grade, Judged
from flashpath.errors import FlashpathError


def grade(
    exercise: Exercise,
    submission: Path,
    *,
    lang: str | None = None,
    seed: int | None = None,
    source: str | None = None,
) -> Grade:
    """The verdict on the file `submission`, in English ("en") or Chinese ("zh").

    `source` is the text of the file, where it was read already. Every run draws a seed of its own; `seed` is
    for tests.
    """
    lang = settings.language(lang)
    start = time.perf_counter()
    if source is None:
        source = _read(submission, lang)
    try:
        judged = _judge(exercise, source, submission, lang, fresh_seed() if seed is None else seed)
    except CountFailed as error:
        told = say(lang, "count-failed", id=exercise.id, count=error.expression, why=error.why)
        raise FlashpathError(told, say(lang, "count-failed-fix")) from None
    return _grade(exercise, judged, lang, time.perf_counter() - start)


def _read(submission: Path, lang: str) -> str:
    try:
        return submission.read_text(encoding="utf-8-sig")  # some editors put a mark before the first line
    except FileNotFoundError:
        raise FlashpathError(
            say(lang, "no-file", file=submission), "`flashpath reset` brings the skeleton back."
        ) from None
    except IsADirectoryError:
        raise FlashpathError(f"{submission} is a folder, not a file.") from None
    except UnicodeDecodeError as error:
        raise FlashpathError(f"{submission}: byte {error.start} is no UTF-8.", "Save it as UTF-8.") from None


def _judge(exercise: Exercise, source: str, file: Path, lang: str, seed: int) -> Judged:
    # Each judge is imported when it is needed: a quiz needs no sandbox.
    if exercise.kind in ("kernel", "debug") and exercise.language in ("cuda", "triton"):
        from flashpath.course.grader import kernel

        return kernel.judge(exercise, source, file, lang, seed)
    if exercise.kind in ("kernel", "derive"):
        from flashpath.course.grader import function

        return function.judge(exercise, source, file, lang, seed)
    if exercise.kind == "predict":
        from flashpath.course.grader import predict

        return predict.judge(exercise, source, file, lang, seed)
    if exercise.kind in ("quiz", "read"):
        from flashpath.course.grader import answers

        return answers.judge(exercise, source, file, lang)
    if exercise.kind in ("note", "report"):
        from flashpath.course.grader import notes

        return notes.judge(exercise, source, lang)
    raise FlashpathError(f"{exercise.id} is of the kind {exercise.kind!r}, which nothing grades.")


def _grade(exercise: Exercise, judged: Judged, lang: str, seconds: float) -> Grade:
    failure, hint = judged.failure, judged.hint
    if failure is None:
        return Grade(
            exercise=exercise.id,
            passed=True,
            reason=None,
            headline=judged.headline or _headline(judged, lang),
            details=judged.lines,
            cases=judged.cases,
            goals=judged.goals,
            seconds=seconds,
        )
    return Grade(
        exercise=exercise.id,
        passed=False,
        reason=failure.reason,
        headline=failure.headline,
        details=failure.details,
        misconception=hint.text if hint else None,
        cases=judged.cases,
        goals=judged.goals,
        seconds=seconds,
        mutant=hint.mutant if hint else None,
    )


def _headline(judged: Judged, lang: str) -> str:
    if judged.goals:
        return say(lang, "passed-goals", cases=judged.cases, goals=len(judged.goals))
    return say(lang, "passed" if judged.cases > 1 else "passed-one", cases=judged.cases)
