"""What every unit must keep to, beyond files that can be read: what the tests prove of each.

Looking up rungs loads their ladders, so this is for authors and tests; no learner's command waits for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from flashpath.course.content import lesson as lessons
from flashpath.course.content.course import Course
from flashpath.course.content.directives import markdown
from flashpath.course.content.errors import ContentError
from flashpath.course.content.exercise import Exercise, Speed
from flashpath.course.content.references import rung
from flashpath.course.content.text import LANGUAGES
from flashpath.course.content.unit import Unit
from flashpath.errors import FlashpathError
from flashpath.messages import did_you_mean

LEAST_QUIZ = 6
LEAST_MUTANTS = 4
LEAST_EXERCISES, LEAST_KINDS = 4, 3


def check_unit(course: Course, unit: Unit) -> None:
    """Everything that the unit names is there, and it is whole."""
    file = unit.folder / "unit.toml"
    _check_prerequisites(course, unit, file)
    _check_rungs(unit.rungs, file, "rungs")
    if not unit.is_ready:
        return
    lessons.check_both(unit)
    for lang in LANGUAGES:
        lesson = lessons.load_lesson(unit, lang)
        markdown(course, lesson)
        markdown(course, lesson, figures="image")
        _check_used(unit, lesson, file)
    if len(unit.quiz) < LEAST_QUIZ:
        quiz = unit.folder / "quiz.toml"
        raise ContentError(quiz, "items", f"there are {len(unit.quiz)}.", f"Write at least {LEAST_QUIZ}.")
    if not unit.checkpoints:
        raise ContentError(file, "checkpoints", "there is none.", "Say what one must be able to explain.")
    exercises = [unit.exercise(each) for each in unit.exercises]
    kinds = {each.kind for each in exercises}
    if len(exercises) < LEAST_EXERCISES or len(kinds) < LEAST_KINDS:
        raise ContentError(
            file,
            "exercises",
            f"there are {len(exercises)} of {len(kinds)} kinds.",
            f"Write at least {LEAST_EXERCISES}, of at least {LEAST_KINDS} kinds.",
        )
    for each in exercises:
        check_exercise(each)
    _check_translated(unit)


def _check_prerequisites(course: Course, unit: Unit, file: Path) -> None:
    for each in unit.prerequisites:
        if each not in course.unit_ids:
            fix = did_you_mean(each, course.unit_ids)
            raise ContentError(file, "prerequisites", f"there is no unit {each!r}.", fix)
    waiting, seen = list(unit.prerequisites), set[str]()
    while waiting:
        each = waiting.pop()
        if each == unit.id:
            raise ContentError(file, "prerequisites", f"{unit.id} comes before itself.", "Break the circle.")
        if each not in seen and each in course.unit_ids:
            seen.add(each)
            waiting += course.unit(each).prerequisites


def _check_rungs(names: Iterable[str], file: Path, key: str) -> None:
    for each in names:
        try:
            rung(each)
        except FlashpathError as error:
            raise ContentError(file, key, error.problem, error.fix) from None


def _check_used(unit: Unit, lesson: lessons.Lesson, file: Path) -> None:
    """The unit's lists say what the lesson takes, and no figure is made for nothing."""
    for kind, declared in (("rung", unit.rungs), ("program", unit.programs)):
        for each in lesson.directives:
            if each.name == kind and each.argument not in declared:
                raise ContentError(
                    file, f"{kind}s", f"{each.argument!r} of {lesson.file.name} is not in it.", "Add it."
                )
    shown = {each.argument.removesuffix(".svg") for each in lesson.directives if each.name == "figure"}
    for each in unit.figures:
        if each.name not in shown:
            raise ContentError(
                file,
                "figures",
                f"{lesson.file.name} does not show {each.name!r}.",
                "Show it, or leave it out.",
            )
    for name in ("exercises", "checkpoints"):
        if not any(each.name == name for each in lesson.directives):
            raise ContentError(lesson.file, None, f"{{{{{name}}}}} is missing.", "Write it into its section.")


def _check_translated(unit: Unit) -> None:
    """What is called Chinese is written in it."""
    for each in sorted(unit.folder.rglob("*.zh.md")):
        if not re.search("[\u4e00-\u9fff]", each.read_text(encoding="utf-8")):
            raise ContentError(each, None, "holds no Chinese.", "Translate it.")


def check_exercise(exercise: Exercise) -> None:
    """The rules for what is graded by running it."""
    file = exercise.folder / "exercise.toml"
    for lang in LANGUAGES:
        if exercise.kind != "quiz" and not exercise.task(lang).strip():
            raise ContentError(exercise.folder / f"task.{lang}.md", None, "is empty.", "Write what is asked.")
    if exercise.skeleton is not None and not exercise.skeleton.with_suffix(".zh.txt").is_file():
        raise ContentError(
            exercise.skeleton, None, "its comments are not translated.", "Write skeleton.zh.txt beside it."
        )
    if exercise.speed is not None:
        _check_rungs([exercise.speed.rung], file, "speed.rung")
        _check_problem(exercise.speed, file)
    _check_rungs([each.rung for each in exercise.questions if each.rung], file, "questions.rung")
    _check_gpus(exercise, file)
    if exercise.kind == "kernel":
        _check_kernel(exercise, file)


def _check_problem(speed: Speed, file: Path) -> None:
    """The rung is timed on a problem of the same size."""
    from flashpath.kernels import ladder

    for each in ladder(speed.rung.partition("/")[0]).dimensions:
        if speed.problem.get(each, each) not in speed.sizes:
            raise ContentError(
                file,
                "speed.problem",
                f"{speed.rung} has the dimension {each!r}; speed.sizes has {', '.join(speed.sizes)}.",
                f'Say which one it is: problem = {{ {each} = "…" }}.',
            )


def _check_gpus(exercise: Exercise, file: Path) -> None:
    from flashpath import gpus

    launches = [exercise.launch, *(each.launch for each in exercise.questions)]
    for name in {each.gpu for each in launches if each}:
        try:
            gpus.gpu(name)
        except FlashpathError as error:
            raise ContentError(file, "launch.gpu", error.problem, error.fix) from None


def _check_kernel(exercise: Exercise, file: Path) -> None:
    if len(exercise.mutants) < LEAST_MUTANTS:
        raise ContentError(
            file, "mutants", f"there are {len(exercise.mutants)}.", f"Write at least {LEAST_MUTANTS}."
        )
    if not any(each.is_drawn for each in exercise.cases):
        raise ContentError(
            file, "cases", "no size is drawn anew in every run.", 'Add sizes = { n = "between(2000, 5000)" }.'
        )
    own_values = all(each.values for each in exercise.arrays.values() if each.is_input)
    if not own_values and not any("shifted" in each.values for each in exercise.cases):
        raise ContentError(file, "cases", 'none has values = ["shifted"].', "Add one.")
    missing = len(exercise.goals) - sum(each.rejected_for == "goal" for each in exercise.mutants)
    if missing > 0:
        raise ContentError(
            file, "mutants", "a goal has no mutant that is right but misses it.", 'Add rejected_for = "goal".'
        )
