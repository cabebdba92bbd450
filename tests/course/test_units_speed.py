"""What units ask of a kernel's speed, on a GPU: their solutions reach it, and slower ones do not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from flashpath.course.content import Exercise, load_course
from flashpath.course.grader import grade, speed

COURSE = load_course()
ASKED = [
    exercise
    for unit in map(COURSE.unit, COURSE.unit_ids)
    if unit.is_ready
    for exercise in map(COURSE.exercise, unit.exercise_ids)
    if exercise.speed is not None
]


def test_units_of_both_languages_ask_for_speed() -> None:
    assert {each.language for each in ASKED} == {"cuda", "triton"}
    assert len({each.id.partition("/")[0] for each in ASKED}) >= 4


def slowed(exercise: Exercise) -> str:
    """The solution, with a wait in every thread that no rung has; its result stays."""
    source = exercise.solution_text()
    if exercise.language == "triton":
        wait = "    for _ in range(4000):\n        tl.debug_barrier()\n"
        return re.sub(r"(?m)^(@triton\.jit\ndef .*:\n)", rf"\1{wait}", source)
    return re.sub(r"(__global__[^{]*\{)", r"\1 for (int i = 0; i < 500; ++i) __nanosleep(1000);", source)


@pytest.mark.gpu
@pytest.mark.parametrize("exercise", ASKED, ids=lambda each: each.id)
def test_the_solution_is_fast_enough_and_a_slow_one_is_not(exercise: Exercise, tmp_path: Path) -> None:
    assert exercise.speed is not None
    assert exercise.solution is not None
    file = tmp_path / exercise.solution.name
    file.write_text(exercise.solution_text(), encoding="utf-8")
    right = grade(exercise, file)
    assert right.passed, right
    (line,) = (each for each in right.details if exercise.speed.rung in each)
    print(f"{exercise.id}: {line}")
    assert slowed(exercise) != exercise.solution_text()
    goals, failure = speed.measure(exercise, slowed(exercise), 1, "en")
    assert failure is not None
    assert failure.reason == "goal", failure
    print(f"{exercise.id}, slowed: {goals[0].said}")
    assert goals[0].counted < exercise.speed.at_least
