"""Counted goals and the arithmetic of speed."""

from __future__ import annotations

import ctypes
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from flashpath import kernels
from flashpath.course.content import Course, Goal, Speed, Text, load_course
from flashpath.course.grader import grade, on_gpu
from flashpath.course.grader import speed as speeds
from flashpath.course.grader.cases import make_case
from flashpath.course.grader.goals import figure, result
from flashpath.course.grader.launching import LIMITS, job_for
from flashpath.course.grader.speed import Floor, duration, floor_of, judged
from flashpath.course.grader.verdict import Failure
from flashpath.course.sandbox.triton_source import build_triton
from flashpath.errors import FlashpathError
from flashpath.messages import speaking

NAME, MISSED = Text("sectors", "扇区"), Text("Read neighbours.", "读相邻元素。")


def _goal(at_most: float | None = None, at_least: float | None = None) -> Goal:
    return Goal(NAME, "report.x", {"n": 8}, MISSED, at_most, at_least)


@pytest.mark.parametrize(
    ("goal", "count", "line"),
    [
        (_goal(at_most=4.0), 4.0, "✓ sectors: 4 (at most 4)"),
        (_goal(at_most=4.0), 32.0, "✗ sectors: 32 (at most 4, 8 times too many)"),
        (_goal(at_most=4.0), 3.25, "✓ sectors: 3.25 (at most 4)"),
        (_goal(at_most=0.0), 31.0, "✗ sectors: 31 (at most 0)"),
        (_goal(at_least=0.5), 0.25, "✗ sectors: 0.25 (at least 0.5, 50% of what is asked)"),
        (_goal(at_least=0.5), 0.75, "✓ sectors: 0.75 (at least 0.5)"),
        (_goal(at_most=10.0, at_least=5.0), 3.0, "✗ sectors: 3 (at least 5, 60% of what is asked)"),
        (_goal(at_most=10.0, at_least=5.0), 7.0, "✓ sectors: 7 (at most 10)"),
    ],
)
def test_a_goal_says_what_was_counted_and_how_far_it_is(goal: Goal, count: float, line: str) -> None:
    found = result(goal, count)
    assert found.said == line
    assert found.reached == line.startswith("✓")
    assert found.counted == count
    with speaking("zh"):
        assert found.name == "扇区"


@pytest.mark.parametrize(
    ("count", "why"),
    [
        ("report.nope", "has no attribute 'nope'"),
        ("1 // (n - n)", "divides by zero"),
        ("report.kernel", "could not convert string to float: 'axpy'"),
        ("report.access(1).bytes", "Line 1 has 0 traced accesses"),
    ],
)
def test_a_count_that_fails_is_the_exercise_s_own_mistake(course: Course, count: str, why: str) -> None:
    exercise = course.exercise("kinds/axpy")
    (goal,) = exercise.goals
    broken = replace(exercise, goals=(replace(goal, count=count),))
    assert exercise.solution is not None
    with pytest.raises(FlashpathError, match="the exercise's own count") as caught:
        grade(broken, exercise.solution)
    assert f"`{count}`" in str(caught.value)
    assert why in str(caught.value)
    assert "练习自己的计数表达式" in caught.value.said.text("zh")


def test_a_share_of_nothing_is_a_missed_goal(course: Course) -> None:
    exercise = course.exercise("kinds/axpy")
    (goal,) = exercise.goals
    share = replace(exercise, goals=(replace(goal, count="report.instructions / report.atomics.turns"),))
    assert exercise.solution is not None
    found = grade(share, exercise.solution)
    assert found.reason == "goal"
    assert "✗ sectors a load: nan (at most 4)" in found.details


def test_a_question_without_a_count_is_the_exercise_s_own_mistake(course: Course, tmp_path: Path) -> None:
    exercise = course.exercise("kinds/sectors")
    first = replace(exercise.questions[0], count="1 / report.atomics.turns")
    (tmp_path / "answers.toml").write_text("loads = 4\n")
    with pytest.raises(FlashpathError, match="the exercise's own count"):
        grade(replace(exercise, questions=(first,)), tmp_path / "answers.toml")


def test_figures() -> None:
    assert figure(65536.0) == "65,536"
    assert figure(1 / 3) == "0.3333"


# ---- Speed ---------------------------------------------------------------------------------------------

SPEED = Speed("vector_add/one_per_thread", 0.8, {"n": 2**28}, "12 * n")


def test_the_ratio_is_the_rung_s_time_over_one_s_own() -> None:
    (found,), failure = judged(SPEED, own=1.0e-3, other=0.9e-3, floor=Floor("H200", 0.67e-3))
    assert failure is None
    assert found.reached
    assert found.counted == pytest.approx(0.9)
    assert "0.90 (at least 0.8)" in found.said


def test_too_slow_is_a_goal_that_is_missed() -> None:
    (found,), failure = judged(SPEED, own=2.0e-3, other=0.9e-3, floor=Floor("H200", 0.67e-3))
    assert not found.reached
    assert failure is not None
    assert failure.reason == "goal"


def test_what_physics_does_not_allow_is_refused() -> None:
    found, failure = judged(SPEED, own=0.5e-3, other=0.9e-3, floor=Floor("H200", 0.67e-3))
    assert found == ()
    assert failure is not None
    assert failure.reason == "refused"
    assert "500 µs" in str(failure.headline)
    assert "H200" in str(failure.headline)


def test_the_floor_is_the_larger_of_bytes_and_flops() -> None:
    moved = 12 * 2**28
    by_bytes = floor_of(SPEED, "NVIDIA H200")
    assert by_bytes.gpu == "H200"
    assert by_bytes.seconds == pytest.approx(moved / 4.8e12, rel=0.05)
    busy = Speed("matmul/naive", 0.8, {"n": 4096}, "12 * n * n", "2 * n ** 3")
    assert floor_of(busy, "NVIDIA H200").seconds == pytest.approx(2 * 4096**3 / 67e12, rel=0.05)


def test_durations() -> None:
    assert duration(1.5e-3) == "1.5 ms"
    assert duration(42e-6) == "42 µs"


AXPY_SPEED = Speed("vector_add/one_per_thread", 0.2, {"n": 2**12}, "12 * n")


def _on_the_virtual_gpu(course: Course, source: str) -> tuple[float, float, Failure | None]:
    exercise = course.exercise("kinds/axpy")
    case = make_case(exercise, AXPY_SPEED.sizes, "normal", np.random.default_rng(1))
    return speeds.times(exercise, AXPY_SPEED, source, case, on="cpu")


def test_both_are_run_and_the_result_is_compared(course: Course) -> None:
    own, other, failure = _on_the_virtual_gpu(course, course.exercise("kinds/axpy").solution_text())
    assert failure is None
    assert own > 0
    assert other > 0


def test_a_shortcut_at_the_timed_size_is_seen(course: Course) -> None:
    source = course.exercise("kinds/axpy").solution_text().replace("if (i < n)", "if (i < n && n != 4096)")
    _, _, failure = _on_the_virtual_gpu(course, source)
    assert failure is not None
    assert failure.reason == "wrong"


def test_without_a_gpu_nothing_is_asked(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speeds.device, "count", lambda: 0)
    exercise = replace(course.exercise("kinds/axpy"), speed=AXPY_SPEED)
    assert speeds.measure(exercise, exercise.solution_text(), 1) == ((), None)


@pytest.mark.gpu
def test_a_kernel_is_timed_beside_a_rung(course: Course) -> None:
    exercise = replace(course.exercise("kinds/axpy"), speed=replace(AXPY_SPEED, sizes={"n": 2**24}))
    results, failure = speeds.measure(exercise, exercise.solution_text(), 1)
    assert failure is None, failure
    assert results[0].reached


@pytest.mark.parametrize("arch", ["sm_80", "sm_90", "sm_100", "sm_103", "sm_120"])
def test_a_triton_kernel_is_built_for_the_gpu_that_is_there(arch: str) -> None:
    exercise = load_course().exercise("triton-softmax/row-softmax")
    assert exercise.launch is not None
    job = job_for(exercise, exercise.launch, exercise.solution_text(), "mine.py", arch)
    built = build_triton(job, "mine.py", LIMITS)
    text = built.ptx.tobytes().decode()
    assert f".target {arch}" in text
    assert on_gpu.machine_code(text, arch)
    passed: list[Any] = [ctypes.c_uint64(), ctypes.c_uint64(), ctypes.c_int32(), ctypes.c_int32()]
    assert len(on_gpu.scratch(text, built.name, passed)) == 2
    with pytest.raises(FlashpathError, match="other parameters"):
        on_gpu.scratch(text, built.name, passed[1:])


def test_the_rung_has_the_sizes_and_the_type_of_the_exercise(monkeypatch: pytest.MonkeyPatch) -> None:
    exercise = load_course().exercise("triton-softmax/row-softmax")
    asked = exercise.speed
    assert asked is not None
    seen: list[Any] = []

    def call(_: object, *inputs: Any) -> None:
        seen.extend(inputs)

    monkeypatch.setattr(type(kernels.ladder("softmax")["triton"]), "__call__", call)
    speeds.rung_call(exercise, replace(asked, sizes={"rows": 3, "cols": 5, "x_stride": 9}), "cpu")()
    assert [(tuple(each.shape), str(each.dtype)) for each in seen] == [((3, 5), "torch.float32")]
