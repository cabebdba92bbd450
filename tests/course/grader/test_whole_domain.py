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

# Sizes whose largest number a case lists: the task allows no larger one.
BOUNDED = {
    "naive-attention/attention-on-chip:n",
    "flash-v1/one-tile:d",
    "flash-v1/one-step:keys",
    "flash-v1/one-step:d",
    "flash-v1/flash-triton:d",
    "flash-v1/flash-cuda:d",
    "flash-v2/query-tiles:d",
    "flash-v2/causal-blocks:d",
    "flash-v2/split-warps:d",
    "flash-v2/flash-forward:d",
    "flash-v2/flash-forward:causal",
    "flash-backward/keys-own:d",
    "flash-backward/adds-of-dq:d",
    "flash-backward/whole-backward:d",
    "flash-source-forward/local-window:d",
    "flash-source-forward/drop-by-place:swapped",
    "flash-source-forward/drop-by-place:seed",
    "flash-source-forward/drop-by-place:keep",
    "flash-source-backward/convert-splits:padded",
    "online-softmax/one-pass:d",
}


def _largest_listed(exercise: Exercise, size: str) -> int:
    """The largest number that a case gives for the size without drawing it."""
    return max(each for case in exercise.cases for each in (*case.sizes[size], 0) if isinstance(each, int))


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
            if largest == exercise.launch.constants.get("BLOCK") or f"{exercise.id}:{size}" in BOUNDED:
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
ALONE = [
    each
    for each in EXERCISES
    if each.language == "cuda" and not re.search(r"__sync|__shfl|atomic", each.solution_text())
]


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
