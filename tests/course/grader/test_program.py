"""The judge of whole programs: what it says, in which order it looks, and what it reads of the output."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from flashpath.course.content import Course
from flashpath.course.content.exercise import CaseSpec
from flashpath.course.grader import grade, printing
from flashpath.course.grader.compare import Expected
from flashpath.course.sandbox import programs
from flashpath.errors import FlashpathError
from flashpath.jit import toolkit
from tests.course.grader.conftest import COURSE, GradeText
from tests.harness.compilers import needs_nvcc

COPY_BACK = "CHECK(cudaMemcpy(x.data(), on_device, bytes, cudaMemcpyDeviceToHost));"
FREE = "CHECK(cudaFree(on_device));"


@pytest.fixture
def solution(course: Course) -> str:
    return course.exercise("kinds/squares").solution_text()


@needs_nvcc
@pytest.mark.parametrize(
    ("old", "new", "reason", "words"),
    [
        ("return 0;", "return 3;", "exit-code", "exit code 3, where 0"),
        ("std::exit(1);", "std::exit(0);", "exit-code", "as if all had gone well"),
        ("std::exit(1);", "std::exit(2);", "exit-code", "exit code 2, expected 1"),
        ("return 0;", "std::abort();", "crashed", "SIGABRT"),
        ("return 0;", "std::fflush(stdout); std::_Exit(0);", "crashed", "without coming to its end"),
        (FREE, "", "leak", "line 27: CHECK(cudaMalloc"),
        (COPY_BACK, COPY_BACK.replace("DeviceToHost", "HostToDevice"), "wrong-direction", "line 31:"),
        (COPY_BACK, "", "wrong", "total"),
        (COPY_BACK, f"{FREE} {COPY_BACK}", "use-after-free", "the other side: freed"),
        ("ends: %d %d", "ends: %d and %d", "wrong", "3 values, expected 2"),
        ("ends: %d %d", "ends: %d %d.5", "wrong", "no number of the kind"),
        ("ends: %d %d", "end: %d %d", "not-printed", "No line `ends"),
        ("#include <vector>", '#include "vector.h"', "compile", "vector.h"),
    ],
)
def test_what_is_said(
    old: str, new: str, reason: str, words: str, solution: str, grade_text: GradeText
) -> None:
    assert old in solution
    result = grade_text("squares", solution.replace(old, new, 1))
    assert result.reason == reason, str(result)
    assert words in str(result)


@needs_nvcc
def test_the_command_of_the_same_run_is_told(solution: str, grade_text: GradeText) -> None:
    told = str(grade_text("squares", solution.replace("total = %lld", "total = 1%lld")))
    assert "`flashpath run squares.cu -- 1 " in told
    told = str(grade_text("squares", solution.replace(FREE, "")))
    assert "`flashpath sanitize squares.cu -- 1 " in told
    chinese = str(grade_text("squares", solution.replace("return 0;", "return 3;"), lang="zh"))
    assert "退出码 3" in chinese
    assert "重现这次运行" in chinese


@needs_nvcc
def test_a_case_may_name_its_gpu(course: Course, solution: str, tmp_path: Path) -> None:
    exercise = course.exercise("kinds/squares")
    assert exercise.program is not None
    case = CaseSpec({"n": (33,), "gpu": (0, 1)})
    several = replace(
        exercise,
        program=replace(exercise.program, gpus=("A100", "RTX 3090")),
        cases=(case,),
        goals=tuple(replace(goal, sizes={**goal.sizes, "gpu": 0}) for goal in exercise.goals),
    )
    count = "int sms; CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));"
    file = tmp_path / "squares.cu"
    file.write_text(solution, encoding="utf-8")
    assert grade(several, file, seed=1).passed
    file.write_text(solution.replace("return 0;", f"{count} return sms == 82 ? 3 : 0;"), encoding="utf-8")
    told = grade(several, file, seed=1)
    assert told.reason == "exit-code"
    assert "GPU = RTX 3090" in str(told)
    assert "flashpath run squares.cu --device 'RTX 3090' -- 33 " in str(told)


@needs_nvcc
def test_what_its_text_must_hold_is_asked_for_last(course: Course, solution: str, tmp_path: Path) -> None:
    asking = replace(course.exercise("kinds/squares"), required=("cudaMemset(",))
    file = tmp_path / "squares.cu"
    file.write_text(f"{solution}// cudaMemset(\n", encoding="utf-8")
    told = grade(asking, file, seed=1)
    assert told.reason == "refused"
    assert "cudaMemset(" in str(told)
    file.write_text(
        solution.replace(FREE, f"CHECK(cudaMemset(on_device, 0, bytes)); {FREE}"), encoding="utf-8"
    )
    assert grade(asking, file, seed=1).passed


@pytest.mark.parametrize(
    ("sizes", "words"),
    [("n = [1, 33, 77], gpu = 2", "from 0 to 1"), ('n = 1, gpu = "n"', "names 2 GPUs")],
)
def test_every_case_has_to_name_one_of_several_gpus(tmp_path: Path, sizes: str, words: str) -> None:
    shutil.copytree(COURSE, tmp_path / "course")
    file = tmp_path / "course/units/90-kinds/exercises/squares/exercise.toml"
    text = file.read_text(encoding="utf-8")
    text = text.replace("[program]", '[program]\ngpus = ["A100", "RTX 3090"]', 1)
    text = text.replace("n = [1, 33, 77]", sizes, 1).replace('n = "between(300, 900)"', "n = 300, gpu = 1", 1)
    file.write_text(text, encoding="utf-8")
    with pytest.raises(FlashpathError, match=words) as caught:
        Course(tmp_path / "course").exercise("kinds/squares")
    assert "program.gpus" in str(caught.value)


@needs_nvcc
def test_what_it_complains_of_is_shown(solution: str, grade_text: GradeText) -> None:
    shown = str(
        grade_text("squares", solution.replace("return 0;", 'std::fprintf(stderr, "oh\\n"); return 3;'))
    )
    assert "  oh" in shown


def test_without_nvcc_nothing_is_graded(
    solution: str, grade_text: GradeText, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing() -> None:
        raise toolkit.MissingCompiler("jit.no-nvcc-for-programs", problem=FlashpathError("jit.no-nvcc").said)

    monkeypatch.setattr(programs, "need_compilers", missing)
    monkeypatch.setattr("flashpath.course.grader.program.need_compilers", missing)
    result = grade_text("squares", solution)
    assert (result.passed, result.reason) == (False, "not-installed")
    assert "pip install" in str(result)


ONE = Expected("y", np.array(5), np.dtype(np.int32), None)
TWO = Expected("y", np.array([1.5, 2.5]), np.dtype(np.float32), np.zeros(2))


@pytest.mark.parametrize(
    ("printed", "expected", "value"),
    [
        ("y = 5\n", ONE, 5),
        ("  y: 5", ONE, 5),
        ("y = 1\nother y = 7\ny = 5\n", ONE, 5),  # the last line counts
        ("y = [1.5, 2.5]\n", TWO, [1.5, 2.5]),
        ("y = -nan inf", TWO, [np.nan, np.inf]),
        ("yy = 5", ONE, "missing"),
        ("", ONE, "missing"),
        ("y = 5 6", ONE, "count"),
        ("y =", ONE, "count"),
        ("y = 5.0", ONE, "no-number"),
        ("y = 5e9", ONE, "no-number"),
        ("y = 4294967301", ONE, "no-number"),  # 5 in 32 bits
        ("y = 1.5 zwei", TWO, "no-number"),
    ],
)  # fmt: skip
def test_values_are_read_from_lines(printed: str, expected: Expected, value: object) -> None:
    got = printing.value_of(printed, expected)
    if isinstance(got, printing.Unread):
        assert got.why == value
    else:
        np.testing.assert_array_equal(got, np.asarray(value))
        assert got.dtype == expected.dtype
