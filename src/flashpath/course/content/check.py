"""What every unit must keep to, beyond files that can be read: what the tests prove of each.

Looking up rungs loads their ladders, so this is for authors and tests; no learner's command waits for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from flashpath import settings
from flashpath.course.content import lesson as lessons
from flashpath.course.content.course import Course
from flashpath.course.content.directives import markdown
from flashpath.course.content.errors import ContentError
from flashpath.course.content.exercise import Exercise, Speed
from flashpath.course.content.references import rung
from flashpath.course.content.unit import Unit
from flashpath.errors import FlashpathError
from flashpath.messages import LANGUAGES, did_you_mean

LEAST_QUIZ = 6
LEAST_MUTANTS = 4
LEAST_EXERCISES, LEAST_KINDS = 4, 3


def check_unit(course: Course, unit: Unit) -> None:
    """Everything that the unit names is there, and it is whole."""
    file = unit.folder / "unit.toml"
    _check_prerequisites(course, unit, file)
    _check_rungs(unit.rungs, file, "rungs")
    for page in unit.docs:
        if not (settings.content_dir("docs") / f"{page}.md").exists():
            raise ContentError("course.content.no-such-page", file, "docs", name=page)
    if not unit.is_ready:
        return
    lessons.check_both(unit)
    for lang in LANGUAGES:
        lesson = lessons.load_lesson(unit, lang)
        markdown(course, lesson)
        markdown(course, lesson, image=str)
        _check_used(unit, lesson, file)
    if len(unit.quiz) < LEAST_QUIZ:
        quiz = unit.folder / "quiz.toml"
        raise ContentError(
            "course.content.too-few-questions", quiz, "items", count=len(unit.quiz), least=LEAST_QUIZ
        )
    if not unit.checkpoints or any(each.answer is None for each in unit.checkpoints):
        raise ContentError("course.content.no-checkpoints", file, "checkpoints")
    exercises = [unit.exercise(each) for each in unit.exercises]
    kinds = {each.kind for each in exercises}
    if len(exercises) < LEAST_EXERCISES or len(kinds) < LEAST_KINDS:
        raise ContentError(
            "course.content.too-few-exercises",
            file,
            "exercises",
            count=len(exercises),
            kinds=len(kinds),
            least=LEAST_EXERCISES,
            least_kinds=LEAST_KINDS,
        )
    for each in exercises:
        check_exercise(each)
    _check_translated(unit)


def _check_prerequisites(course: Course, unit: Unit, file: Path) -> None:
    for each in unit.prerequisites:
        if each not in course.unit_ids:
            fix = did_you_mean(each, course.unit_ids)
            raise ContentError("course.content.no-such-unit", file, "prerequisites", name=each, advice=fix)
    waiting, seen = list(unit.prerequisites), set[str]()
    while waiting:
        each = waiting.pop()
        if each == unit.id:
            raise ContentError("course.content.before-itself", file, "prerequisites", id=unit.id)
        if each not in seen and each in course.unit_ids:
            seen.add(each)
            waiting += course.unit(each).prerequisites


def _check_rungs(names: Iterable[str], file: Path, key: str) -> None:
    for each in names:
        try:
            rung(each)
        except FlashpathError as error:
            raise ContentError(
                "course.content.of-another", file, key, problem=error.said, advice=error.fix or ""
            ) from None


def _check_used(unit: Unit, lesson: lessons.Lesson, file: Path) -> None:
    """The unit's lists say what the lesson takes, and no figure is made for nothing."""
    for kind, declared in (("rung", unit.rungs), ("program", unit.programs)):
        for each in lesson.directives:
            if each.name == kind and each.argument not in declared:
                raise ContentError(
                    "course.content.not-declared",
                    file,
                    f"{kind}s",
                    argument=each.argument,
                    lesson=lesson.file.name,
                )
    shown = {each.argument.removesuffix(".svg") for each in lesson.directives if each.name == "figure"}
    for each in unit.figures:
        if each.name not in shown:
            raise ContentError(
                "course.content.figure-not-shown", file, "figures", lesson=lesson.file.name, name=each.name
            )
    for name in ("exercises", "checkpoints"):
        if not any(each.name == name for each in lesson.directives):
            raise ContentError("course.content.directive-missing", lesson.file, None, name=name)


def _check_translated(unit: Unit) -> None:
    """What is called Chinese is written in it."""
    for each in sorted(unit.folder.rglob("*.zh.md")):
        if not re.search("[\u4e00-\u9fff]", each.read_text(encoding="utf-8")):
            raise ContentError("course.content.no-chinese", each, None)


def check_exercise(exercise: Exercise) -> None:
    """The rules for what is graded by running it."""
    file = exercise.folder / "exercise.toml"
    for lang in LANGUAGES:
        if exercise.kind != "quiz" and not exercise.task(lang).strip():
            raise ContentError("course.content.task-empty", exercise.folder / f"task.{lang}.md", None)
    if exercise.skeleton is not None and not exercise.skeleton.with_suffix(".zh.txt").is_file():
        raise ContentError("course.content.comments-not-translated", exercise.skeleton, None)
    if exercise.speed is not None:
        _check_rungs([exercise.speed.rung], file, "speed.rung")
        _check_problem(exercise.speed, file)
    _check_rungs([each.rung for each in exercise.questions if each.rung], file, "questions.rung")
    _check_gpus(exercise, file)
    if exercise.kind == "kernel":
        _check_kernel(exercise, file)
    if exercise.kind == "program":
        _check_run(exercise, file)
        if not exercise.goals:
            raise ContentError("course.content.program-without-goal", file, "goals")


def _check_problem(speed: Speed, file: Path) -> None:
    """The rung is timed on a problem of the same size."""
    from flashpath.kernels import ladder

    for each in ladder(speed.rung.partition("/")[0]).dimensions:
        if speed.problem.get(each, each) not in speed.sizes:
            raise ContentError(
                "course.content.dimension-without-size",
                file,
                "speed.problem",
                rung=speed.rung,
                name=each,
                sizes=list(speed.sizes),
            )


def _check_gpus(exercise: Exercise, file: Path) -> None:
    from flashpath import gpus

    launches = [exercise.launch, *(each.launch for each in exercise.questions)]
    names = {each.gpu for each in launches if each}
    if exercise.program is not None:
        names.update(exercise.program.gpus)
    for name in sorted(names):
        try:
            gpus.gpu(name)
        except FlashpathError as error:
            raise ContentError(
                "course.content.of-another", file, "launch.gpu", problem=error.said, advice=error.fix or ""
            ) from None


def _check_kernel(exercise: Exercise, file: Path) -> None:
    _check_run(exercise, file)
    own_values = all(each.values for each in exercise.arrays.values() if each.is_input)
    if not own_values and not any("shifted" in each.values for each in exercise.cases):
        raise ContentError("course.content.no-shifted-values", file, "cases")


def _check_run(exercise: Exercise, file: Path) -> None:
    """The rules for kernels and whole programs."""
    if len(exercise.mutants) < LEAST_MUTANTS:
        raise ContentError(
            "course.content.too-few-mutants",
            file,
            "mutants",
            count=len(exercise.mutants),
            least=LEAST_MUTANTS,
        )
    if not any(each.is_drawn for each in exercise.cases):
        raise ContentError("course.content.no-drawn-size", file, "cases")
    missing = len(exercise.goals) - sum(each.rejected_for == "goal" for each in exercise.mutants)
    if missing > 0:
        raise ContentError("course.content.goal-without-mutant", file, "mutants")
