"""Solutions that are spoilt beyond the sizes that are listed, or done by one thread, are always rejected."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from flashpath.course.content import Exercise, load_course
from flashpath.course.grader import grade

COURSE = load_course()
EXERCISES = [
    exercise
    for unit in map(COURSE.unit, COURSE.unit_ids)
    if unit.is_ready
    for exercise in map(COURSE.exercise, unit.exercise_ids)
    if exercise.launch is not None and exercise.solution is not None
]
SEEDS = (11, 12, 13)

# Known defects: these exercises do not look beyond their listed sizes yet, or cannot be spoilt in this way.
STILL_OPEN = {
    "triton-first/two-bounds:rows",
    "triton-first/gather-rows:entries",
    "triton-first/broadcast-add:yc",
    "triton-first/broadcast-add:rows",
    "triton-first/broadcast-add:xb",
    "triton-first/broadcast-add:xr",
    "triton-first/broadcast-add:xc",
    "triton-first/broadcast-add:yb",
    "triton-first/broadcast-add:yr",
    "naive-attention/weighted-values:d",
    "attention-maths/masked-scores:d",
    "attention-maths/grouped-scores:group",
    "cutlass-and-cute/any-order-copy:cols",
}
SWITCHES = {"causal": 1}
STILL_OPEN_ALONE = {"flash-v1/recompute"}


def _cases(names: list[str], values: list[Any], still_open: set[str]) -> list[Any]:
    """Each case with its name; one that is known to fail has to fail: what is mended leaves the list."""
    known = pytest.mark.xfail(strict=True, reason="a known defect of the exercise")
    return [
        pytest.param(*value, id=name, marks=[known] if name in still_open else [])
        for name, value in zip(names, values, strict=True)
    ]


def _largest_listed(exercise: Exercise, size: str) -> int:
    """The largest number that a case gives for the size without drawing it."""
    return max(each for case in exercise.cases for each in (*case.sizes[size], 0) if isinstance(each, int))


def _most_allowed(exercise: Exercise, size: str) -> object:
    """The largest number that the exercise allows for the size: BLOCK, or what its file says at the top.

    There it is a number or a constant of the launch: `d <= 32`, `keys <= BLOCK_K`.
    """
    assert exercise.launch is not None
    constants = exercise.launch.constants
    head = re.split(r"\n(?:import|constexpr|template|__global__|#include)", exercise.solution_text())[0]
    said = re.search(rf"\b{size} <= (\w+)", head)
    if said is None:
        return SWITCHES.get(size, constants.get("BLOCK"))
    return int(said[1]) if said[1].isdigit() else constants.get(said[1])


def _beyond() -> list[tuple[Exercise, str, str]]:
    """Each exercise with a size and the condition under which its kernel returns at once."""
    found: list[tuple[Exercise, str, str]] = []
    for exercise in EXERCISES:
        assert exercise.launch is not None
        block = "tl.program_id(0)" if exercise.language == "triton" else "(int)blockIdx.x"
        for size in exercise.cases[0].sizes:
            largest = _largest_listed(exercise, size)
            if largest == _most_allowed(exercise, size):
                continue  # the exercise has no larger one
            if size in exercise.launch.arguments:
                exact = sorted({goal.sizes[size] for goal in exercise.goals if goal.sizes[size] > largest})
                word = "and" if exercise.language == "triton" else "&&"
                but = "".join(f" {word} {size} != {number}" for number in exact)
                found.append((exercise, size, f"{size} > {largest}{but}"))
            elif exercise.launch.grid == (size,):
                found.append((exercise, size, f"{block} >= {largest}"))
    return found


def _spoilt(exercise: Exercise, condition: str) -> str:
    text = exercise.solution_text()
    assert exercise.launch is not None
    name = exercise.launch.kernel
    if exercise.language == "triton":
        return re.sub(rf"(?s)(def {name}\(.*?\):\n)", rf"\1    if {condition}:\n        return\n", text)
    return re.sub(rf"(?s)(__global__ void {name}\(.*?\) {{\n)", rf"\1  if ({condition}) return;\n", text)


BEYOND = _beyond()


@pytest.mark.parametrize(
    ("exercise", "size", "condition"),
    _cases([f"{exercise.id}:{size}" for exercise, size, _ in BEYOND], BEYOND, STILL_OPEN),
)
def test_wrong_beyond_what_is_listed(exercise: Exercise, size: str, condition: str, tmp_path: Path) -> None:
    del size
    assert exercise.solution is not None
    text = _spoilt(exercise, condition)
    assert condition in text
    file = tmp_path / exercise.solution.name
    file.write_text(text, encoding="utf-8")
    for seed in SEEDS[: 1 if exercise.language == "triton" else None]:
        result = grade(exercise, file, seed=seed)
        assert result.reason in ("unwritten", "wrong"), f"{condition}\n{result}"


# Kernels whose threads never wait for each other: one thread can play them all.
ALONE = [
    each
    for each in EXERCISES
    if each.language == "cuda" and not re.search(r"__sync|__shfl|atomic", each.solution_text())
]


@pytest.mark.parametrize(
    "exercise", _cases([each.id for each in ALONE], [(each,) for each in ALONE], STILL_OPEN_ALONE)
)
def test_one_thread_that_does_it_all(exercise: Exercise, tmp_path: Path) -> None:
    assert exercise.launch is not None
    assert exercise.solution is not None
    name = exercise.launch.kernel
    text = exercise.solution_text()
    found = re.search(rf"(?s)__global__ void {name}\((.*?)\) {{", text)
    assert found
    passed = ", ".join(each.split()[-1].lstrip("*") for each in found[1].split(","))
    text = text.replace(found[0], f"__device__ void played(uint3 threadIdx, {found[1]}) {{")
    text += f"""
__global__ void {name}({found[1]}) {{
  if (threadIdx.x + threadIdx.y > 0) return;
  for (unsigned q = 0; q < blockDim.y; ++q)
    for (unsigned p = 0; p < blockDim.x; ++p) played(make_uint3(p, q, 0), {passed});
}}
"""
    file = tmp_path / exercise.solution.name
    file.write_text(text, encoding="utf-8")
    for seed in SEEDS:
        result = grade(exercise, file, seed=seed)
        assert result.reason == "goal", str(result)
        assert result.summary.code == "course.grader.one-thread"
