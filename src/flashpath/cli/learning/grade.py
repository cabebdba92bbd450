"""`flashpath grade`: check an answer to an exercise, and say what is wrong with it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flashpath.cli.options import AsJson, Lang
from flashpath.messages import say

if TYPE_CHECKING:
    from rich.console import Console

    from flashpath.course.content import Exercise, ProblemSet
    from flashpath.course.grader import Grade
    from flashpath.course.learner import Learner


def grade(
    exercise: Annotated[str | None, typer.Argument(help=say("cli.learning.grade-exercise"))] = None,
    file: Annotated[Path | None, typer.Option(help=say("cli.learning.grade-file"))] = None,
    every: Annotated[bool, typer.Option("--all", help=say("cli.learning.grade-every"))] = False,
    lang: Lang = None,
    as_json: AsJson = False,
) -> None:
    """Grades an exercise. Exits with 0 when it passes, else with 1."""
    from flashpath.cli.learning.opening import learning
    from flashpath.cli.output import print_json

    with learning(lang, must_keep=False, must_show=False) as learner:
        if every:
            grades = _grade_all(learner, quiet=as_json)
            if as_json:
                print_json([each.to_json() for each in grades])
            passed = all(each.passed for each in grades)
        elif file is None and (chosen := learner.problem_set(exercise)) is not None:
            passed = _grade_set(learner, chosen, as_json=as_json)
        else:
            verdict = _grade_one(learner, exercise, file, quiet=as_json)
            if as_json:
                print_json(verdict.to_json())
            passed = verdict.passed
    if not passed:
        raise typer.Exit(1)


def _grade_one(learner: Learner, what: str | None, file: Path | None, *, quiet: bool) -> Grade:
    from flashpath.cli.learning.verdict_view import show_grade
    from flashpath.cli.output import console
    from flashpath.course.learner.grading import grade_and_keep
    from flashpath.course.state import StoreError

    if file is not None and what is not None:
        exercise, path = learner.exercise(what), file
    else:
        exercise, path = learner.find(str(file) if file is not None else what)
    verdict = grade_and_keep(learner, exercise, path)
    if quiet:
        return verdict
    out = console()
    show_grade(out, learner, verdict, path)
    try:
        _show_what_follows(out, learner, exercise, verdict)
    except StoreError as error:  # the verdict holds all the same
        learner.warn(error)
    return verdict


def _grade_set(learner: Learner, problem_set: ProblemSet, *, as_json: bool) -> bool:
    from flashpath.cli.learning.set_view import show_set
    from flashpath.cli.output import console, print_json
    from flashpath.course.learner.problem_sets import grade_set

    graded = grade_set(learner, problem_set)
    if as_json:
        print_json(graded.to_json())
    else:
        show_set(console(), graded)
    return graded.passed


def _show_what_follows(out: Console, learner: Learner, exercise: Exercise, verdict: Grade) -> None:
    """Prints the next exercise of one that passed, where its explanation is, or where a hint is."""
    from flashpath.course.learner.review import finished_checkpoints

    if not verdict.passed:
        seen = learner.store.hints_seen(exercise.id)
        if seen < len(exercise.hints):
            out.print(
                say("cli.learning.grade-hint", seen=seen, count=len(exercise.hints), exercise=exercise.id)
            )
        return
    if exercise.solution is not None:
        out.print(say("cli.learning.grade-solution", exercise=exercise.id))
    if learner.workspace is None:
        return
    if finished_checkpoints(learner, [learner.course.unit(exercise.unit)]):
        out.print(say("cli.learning.grade-checkpoint", unit=exercise.unit))
    coming = learner.progress().next_exercise(exercise.id)
    out.print(
        say("cli.learning.grade-next", exercise=coming) if coming else say("cli.learning.grade-all-done")
    )


def _grade_all(learner: Learner, *, quiet: bool) -> list[Grade]:
    from flashpath.cli.output import console
    from flashpath.course.learner.grading import grade_and_keep

    out = console()
    grades: list[Grade] = []
    for exercise, path in learner.begun():
        verdict = grade_and_keep(learner, exercise, path)
        grades.append(verdict)
        if not quiet:
            mark = "[green]✓[/]" if verdict.passed else "[red]✗[/]"
            out.print(f"{mark} {exercise.id}  ", end="")
            out.print(verdict.headline, markup=False)
    if not quiet:
        passed = sum(verdict.passed for verdict in grades)
        out.print(say("cli.learning.grade-all-passed", passed=passed, count=len(grades)))
    return grades
