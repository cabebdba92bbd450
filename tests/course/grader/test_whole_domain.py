"""Solutions that are spoilt beyond the sizes that are listed, or done by one thread, are always rejected."""

from __future__ import annotations

import re
from pathlib import Path

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

# Sizes whose largest number a case lists, and which no file bounds at its head: no larger one is allowed.
BOUNDED = {
    "flash-source-backward/convert-splits:padded",
    "flash-source-forward/drop-by-place:keep",
    "flash-source-forward/drop-by-place:seed",
    "flash-source-forward/drop-by-place:swapped",
    "flash-v2/flash-forward:causal",
}


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
        return constants.get("BLOCK")
    return int(said[1]) if said[1].isdigit() else constants.get(said[1])


def _parameters(exercise: Exercise) -> list[str]:
    """The names of the kernel's own parameters, in the order of the launch's arguments."""
    assert exercise.launch is not None
    name = exercise.launch.kernel
    found = re.search(rf"(?s)(?:def|__global__ void) {name}\((.*?)\)(?: {{|:\n)", exercise.solution_text())
    assert found
    return [each.partition(":")[0].split()[-1].lstrip("*") for each in found[1].split(",") if each.strip()]


def _beyond() -> list[tuple[Exercise, str, str]]:
    """Each exercise with a size and the condition under which its kernel returns at once."""
    found: list[tuple[Exercise, str, str]] = []
    for exercise in EXERCISES:
        assert exercise.launch is not None
        block = "tl.program_id(0)" if exercise.language == "triton" else "(int)blockIdx.x"
        for size in exercise.cases[0].sizes:
            largest = _largest_listed(exercise, size)
            if largest == _most_allowed(exercise, size) or f"{exercise.id}:{size}" in BOUNDED:
                continue  # the exercise has no larger one
            if size in exercise.launch.arguments:
                exact = sorted({goal.sizes[size] for goal in exercise.goals if goal.sizes[size] > largest})
                word = "and" if exercise.language == "triton" else "&&"
                own = _parameters(exercise)[exercise.launch.arguments.index(size)]
                but = "".join(f" {word} {own} != {number}" for number in exact)
                found.append((exercise, size, f"{own} > {largest}{but}"))
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


def test_bounded_sizes_are_there() -> None:
    sizes = {f"{exercise.id}:{size}" for exercise in EXERCISES for size in exercise.cases[0].sizes}
    assert sizes >= BOUNDED


@pytest.mark.parametrize(
    ("exercise", "size", "condition"), BEYOND, ids=[f"{exercise.id}:{size}" for exercise, size, _ in BEYOND]
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
TOGETHER = re.compile(r"__sync|__shfl|__ballot|__match|atomic|mma")
ALONE = [each for each in EXERCISES if each.language == "cuda" and not TOGETHER.search(each.solution_text())]


@pytest.mark.parametrize("exercise", ALONE, ids=[each.id for each in ALONE])
def test_one_thread_that_does_it_all(exercise: Exercise, tmp_path: Path) -> None:
    assert exercise.launch is not None
    assert exercise.solution is not None
    name = exercise.launch.kernel
    text = exercise.solution_text()
    found = re.search(rf"(?s)__global__ void {name}\((.*?)\) {{", text)
    assert found
    passed = ", ".join(each.split()[-1].lstrip("*") for each in found[1].split(","))
    # Whatever asks for threadIdx, functions that the kernel calls too, is told of the thread that is played.
    text = text.replace(found[0], f"__device__ void played({found[1]}) {{")
    text = f"__shared__ uint3 played_thread;\n#define threadIdx played_thread\n{text}\n#undef threadIdx\n"
    text += f"""
__global__ void {name}({found[1]}) {{
  if (threadIdx.x + threadIdx.y > 0) return;
  for (unsigned own_y = 0; own_y < blockDim.y; ++own_y) {{
    for (unsigned own_x = 0; own_x < blockDim.x; ++own_x) {{
      played_thread = make_uint3(own_x, own_y, 0);
      played({passed});
    }}
  }}
}}
"""
    file = tmp_path / exercise.solution.name
    file.write_text(text, encoding="utf-8")
    for seed in SEEDS:
        result = grade(exercise, file, seed=seed)
        assert result.reason == "goal", str(result)
        assert result.summary.code == "course.grader.one-thread"
