"""Every exercise of every unit that is ready: its solution passes, its skeleton fails with words, and every
mutant is rejected for its own reason and shown its own hint.

The exercises are found, never listed: those of the course, and those of the small course of the grader's own
tests, which has one of each kind.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from flashpath import settings
from flashpath.course.content import Course, Exercise, Mutant, QuizItem, load_course
from flashpath.course.grader import Grade, answers_template, goals, grade, program
from flashpath.course.grader.answers import shown_order
from flashpath.course.grader.cases import Case, cases_of
from flashpath.course.grader.compare import compare
from flashpath.course.grader.launching import session_for
from flashpath.course.grader.predict import Counter, judge_question
from flashpath.course.grader.reference import expected_outputs
from flashpath.course.grader.trial import Trial
from flashpath.errors import FlashpathError
from flashpath.messages import speaking
from tests.harness.compilers import needs_nvcc

SEEDS = (1, 2)


# ---- What there is -------------------------------------------------------------------------------------


@functools.cache
def _courses() -> tuple[Course, ...]:
    small = load_course(Path(__file__).parent / "grader" / "course")
    try:
        return small, load_course(settings.content_dir("course"))
    except FlashpathError:  # no content yet
        return (small,)


def _exercises() -> Iterator[Exercise]:
    """All that can be read; tests of the content say what is wrong with the others."""
    for course in _courses():
        for folder in course.unit_ids:
            try:
                unit = course.unit(folder)
                if unit.is_ready:
                    yield from [course.exercise(each) for each in unit.exercise_ids]
            except FlashpathError:
                continue


@functools.cache
def _all() -> tuple[Exercise, ...]:
    return tuple(_exercises())


def _marks(exercise: Exercise) -> tuple[Any, ...]:
    return (needs_nvcc,) if exercise.kind == "program" else ()


def _each(found: Iterable[Exercise]) -> Callable[[Any], Any]:
    every = [pytest.param(each, id=each.id, marks=_marks(each)) for each in found]
    return pytest.mark.parametrize("exercise", every)


def _of(*kinds: str) -> Callable[[Any], Any]:
    return _each(each for each in _all() if each.kind in kinds)


def _mutants() -> Callable[[Any], Any]:
    found = [
        pytest.param(each, mutant, id=f"{each.id}:{mutant.name}", marks=_marks(each))
        for each in _all()
        for mutant in each.mutants
    ]
    return pytest.mark.parametrize(("exercise", "mutant"), found)


def _with_goals() -> Callable[[Any], Any]:
    return _each(each for each in _all() if each.goals)


RUN = ("kernel", "debug", "program", "derive")


@pytest.fixture(autouse=True)
def language(request: pytest.FixtureRequest) -> Iterator[None]:
    """The language of a test's parameter is spoken, else English."""
    lang = request.getfixturevalue("lang") if "lang" in request.fixturenames else "en"
    with speaking(lang):
        yield


def _graded(exercise: Exercise, text: str, folder: Path, seed: int | None = 1) -> Grade:
    name = exercise.solution.name if exercise.solution else "answers.toml"
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return grade(exercise, file, seed=seed)


def _solution(exercise: Exercise) -> str:
    return exercise.solution_text()


# ---- What is run ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [*SEEDS, None])
@_of(*RUN)
def test_the_solution_passes(exercise: Exercise, seed: int | None, tmp_path: Path) -> None:
    result = _graded(exercise, _solution(exercise), tmp_path, seed=seed)
    assert result.passed, str(result)
    assert result.cases >= 3
    assert len(result.goals) >= len(exercise.goals)


@_of(*RUN)
def test_the_skeleton_fails_with_words(exercise: Exercise, tmp_path: Path) -> None:
    assert exercise.skeleton is not None
    result = _graded(exercise, exercise.skeleton.read_text(encoding="utf-8"), tmp_path)
    assert not result.passed
    assert result.reason not in (None, "crashed", "timeout")
    for lang in ("en", "zh"):
        with speaking(lang):
            assert result.headline.strip()
            assert "Traceback" not in str(result)


def test_a_barrier_in_a_branch_is_told_as_what_it_is(tmp_path: Path) -> None:
    """The untouched file has one mistake: whoever begins there is told of that, and of nothing else."""
    exercise = load_course().exercise("coalescing/barrier-in-a-branch")
    assert exercise.skeleton is not None
    result = _graded(exercise, exercise.skeleton.read_text(encoding="utf-8"), tmp_path)
    assert result.reason == "divergent-barrier"
    assert "The barrier stands inside of the if" in str(result)


@_mutants()
def test_every_mutant_is_rejected_for_its_own_reason(
    exercise: Exercise, mutant: Mutant, tmp_path: Path
) -> None:
    result = _graded(exercise, mutant.source, tmp_path)
    assert not result.passed, f"{mutant.name} passes"
    assert result.reason == mutant.rejected_for, str(result)
    assert result.mutant == mutant.name, f"shown: {result.mutant}\n{result}"
    assert result.misconception == mutant.hint.en


@_with_goals()
def test_every_goal_has_a_mutant_that_misses_it(exercise: Exercise) -> None:
    missing = set(range(len(exercise.goals)))
    for mutant in exercise.mutants:
        if missing and mutant.rejected_for == "goal":
            counted = _counted(exercise, mutant)
            assert counted.failure is None, counted.failure
            counts = counted.counts
            missing -= {place for place in missing if not exercise.goals[place].is_met(counts[place])}
    assert not missing, [exercise.goals[place].name.en for place in missing]


def _counted(exercise: Exercise, mutant: Mutant) -> goals.Counted:
    if exercise.program is not None:
        return program.counts_of(exercise, mutant, 1)
    assert exercise.launch is not None
    assert exercise.solution is not None
    with session_for(exercise, exercise.launch, mutant.source, exercise.solution.name) as session:
        return goals.counted(Trial(session, exercise, exercise.launch, mutant.source), 1)


@_of(*RUN)
def test_zeros_and_constants_would_be_wrong(exercise: Exercise) -> None:
    """The tolerance is no excuse: some case tells them from what is expected."""
    judged = [expected_outputs(exercise, case) for case in cases_of(exercise, 1)]
    for place, name in enumerate(each.name for each in judged[0]):
        truths = [case[place] for case in judged if case[place].value.size]
        for constant in (0, 1):
            told_apart = [
                compare(truth, np.full(truth.value.shape, constant, truth.dtype)) for truth in truths
            ]
            assert any(told_apart), f"{name} may be {constant} everywhere"


@_of(*RUN)
def test_cases_differ_from_run_to_run(exercise: Exercise) -> None:
    first, second = cases_of(exercise, 1), cases_of(exercise, 2)
    assert [_bytes(each) for each in first] != [_bytes(each) for each in second]
    assert [_bytes(each) for each in first] == [_bytes(each) for each in cases_of(exercise, 1)]


def _bytes(case: Case) -> tuple[object, ...]:
    arrays = (*case.inputs.values(), *map(np.asarray, case.scalars.values()))
    return *case.sizes.values(), *(each.tobytes() for each in arrays)


# ---- What is answered ----------------------------------------------------------------------------------


def _right_answer(item: QuizItem) -> str | None:
    """As it is written in the file; None for a text, which only a person can make up."""
    if item.kind == "number":
        return repr(item.number)
    if item.kind == "choice":
        right = list(item.choices)
        return repr(right if len(right) > 1 else right[0])
    if item.kind == "order":
        order = shown_order(item)
        return repr([order.index(place) + 1 for place in range(len(order))])
    return None


@pytest.mark.parametrize("lang", ["en", "zh"])
@_of("quiz", "read")
def test_right_answers_pass(exercise: Exercise, lang: str, tmp_path: Path) -> None:
    lines = [f"{item.id} = {answer}" for item in exercise.items if (answer := _right_answer(item))]
    result = _graded(exercise, "\n".join(lines), tmp_path)
    texts = len(exercise.items) - len(lines)
    assert result.cases == len(lines), str(result)
    assert result.reason == ("unanswered" if texts else None)


@pytest.mark.parametrize("lang", ["en", "zh"])
@_of("quiz", "read", "predict")
def test_the_template_of_answers_is_unanswered(exercise: Exercise, lang: str, tmp_path: Path) -> None:
    result = _graded(exercise, answers_template(exercise, lang), tmp_path)
    assert result.reason == "unanswered"
    assert result.headline


@_of("predict")
def test_predictions_are_counted(exercise: Exercise, tmp_path: Path) -> None:
    with Counter(exercise) as counter:
        counted = {question.id: counter.count(question) for question in exercise.questions}
        for question in exercise.questions:
            for common in question.common:  # judged with the kernels that are built by now
                said = judge_question(counter, question, common.answer)
                assert said.right is False, f"{question.id}: {common.answer} is right"
                assert common.hint.en.split("\n")[0] in said.said
    right = "".join(f"{name} = {value!r}\n" for name, value in counted.items())
    result = _graded(exercise, right, tmp_path)
    assert result.passed, str(result)
    for question in exercise.questions:
        assert question.explain.en.split("\n")[0] in "\n".join(result.details)


# ---- What is written -----------------------------------------------------------------------------------


@pytest.mark.parametrize("lang", ["en", "zh"])
@_of("note", "report")
def test_a_note_is_complete_when_it_is_filled(exercise: Exercise, lang: str, tmp_path: Path) -> None:
    template = exercise.template(lang)
    result = _graded(exercise, template, tmp_path)
    assert result.reason == "incomplete"
    own = "x" * exercise.least
    lines = [f"{line}\n\n{own}" if line.startswith(">") else line for line in template.splitlines()]
    assert _graded(exercise, "\n".join(lines), tmp_path).passed
