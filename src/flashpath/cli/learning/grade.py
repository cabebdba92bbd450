"""`flashpath grade`: check an answer to an exercise, and say what is wrong with it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flashpath.cli.options import AsJson, Lang

if TYPE_CHECKING:
    from flashpath.cli.learning.learner import Learner
    from flashpath.course.grader import Grade


def grade(
    exercise: Annotated[
        str | None,
        typer.Argument(help="first-kernel/saxpy, its file or folder; by default what was last changed."),
    ] = None,
    file: Annotated[Path | None, typer.Option(help="Grade this file as an answer to the exercise.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Every exercise of the track that was begun.")] = False,
    lang: Lang = None,
    as_json: AsJson = False,
) -> None:
    """Grade an exercise. Exits with 0 when it passes, else with 1.

    What you tried is kept before it is graded: nothing is lost when the command is stopped.

    Examples:

        flashpath grade

        flashpath grade first-kernel/saxpy

        flashpath grade exercises/first-kernel/saxpy.cu

        flashpath grade first-kernel/saxpy --file ~/my-saxpy.cu

        flashpath grade --all --json
    """
    from flashpath.cli.learning.learner import learning
    from flashpath.cli.output import print_json

    with learning(lang, must_keep=False) as learner:
        if every:
            grades = _grade_all(learner, quiet=as_json)
            if as_json:
                print_json([each.to_json() for each in grades])
            passed = all(each.passed for each in grades)
        else:
            verdict = _grade_one(learner, exercise, file, quiet=as_json)
            if as_json:
                print_json(verdict.to_json())
            passed = verdict.passed
    if not passed:
        raise typer.Exit(1)


def _grade_one(learner: Learner, what: str | None, file: Path | None, *, quiet: bool) -> Grade:
    from flashpath.cli.learning.grading import grade_and_keep, show_grade
    from flashpath.cli.output import console

    if file is not None and what is not None:
        exercise, path = learner.exercise(what), file
    else:
        exercise, path = learner.find(str(file) if file is not None else what)
    verdict = grade_and_keep(learner, exercise, path)
    if quiet:
        return verdict
    out = console()
    show_grade(out, learner, verdict, path)
    if verdict.passed:
        coming = learner.progress().next_exercise(exercise.id) if learner.workspace else None
        if coming is not None:
            out.print(learner.say(f"Next: {coming}  (flashpath next)", f"下一个：{coming}  (flashpath next)"))
    else:
        seen = learner.store.hints_seen(exercise.id)
        if seen < len(exercise.hints):
            out.print(
                learner.say(
                    f"  a hint ({seen} of {len(exercise.hints)} seen): flashpath hint {exercise.id}",
                    f"  提示（已看 {seen}/{len(exercise.hints)}）：flashpath hint {exercise.id}",
                )
            )
    return verdict


def _grade_all(learner: Learner, *, quiet: bool) -> list[Grade]:
    from flashpath.cli.learning.grading import grade_and_keep
    from flashpath.cli.output import console

    out = console()
    grades: list[Grade] = []
    for name, path in learner.files().items():
        exercise = learner.course.exercise(name)
        if not path.is_file() or not learner.is_begun(exercise, path):
            continue
        verdict = grade_and_keep(learner, exercise, path)
        grades.append(verdict)
        if not quiet:
            mark = "[green]✓[/]" if verdict.passed else "[red]✗[/]"
            out.print(f"{mark} {name}  ", end="")
            out.print(verdict.headline, markup=False)
    if not quiet:
        passed = sum(each.passed for each in grades)
        out.print(
            learner.say(
                f"{passed} of {len(grades)} exercises that were begun pass.",
                f"已开始的 {len(grades)} 个练习中通过 {passed} 个。",
            )
        )
    return grades
