"""What a learner is told of a kernel: where it differs, which line, which thread, which mistake."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from flashpath.course.content import Course
from flashpath.course.grader import Grade, grade, misconceptions
from flashpath.errors import FlashpathError

GradeText = Callable[..., Grade]
HEAD = 'extern "C" __global__ void axpy(int n, float a, float* x, float* y) {\n'
INDEX = "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"


def _axpy(body: str) -> str:
    return f"{HEAD}{INDEX}    {body}\n}}\n"


def test_a_wrong_element_is_shown(grade_text: GradeText) -> None:
    result = grade_text("axpy", _axpy("if (i < n) y[i] = a * x[i] + (i % 32 == 3 ? 0.0f : y[i]);"))
    assert result.reason == "wrong"
    assert result.headline == "Wrong: 1 of 31 elements of y differ, for n = 31, values normal."
    assert result.details[0].startswith("first difference: y[3]: expected ")
    assert "allowed" in result.details[1]
    assert "pattern: only element 3 of 31" in result.details
    assert "···✗···························" in result.details
    assert result.cases == 4  # n = 0 and n = 1, each with two kinds of values


def test_elements_never_stored_are_told_from_wrong_ones(grade_text: GradeText) -> None:
    text = """extern "C" __global__ void row_sums(int rows, int n, const float* x, float* y) {
        if (threadIdx.x == 0 && blockIdx.x == 0) y[0] = 1000.0f;
    }"""
    result = grade_text(
        "row-sums", text.replace("&& blockIdx.x == 0) y[0]", "&& blockIdx.x != 0) y[blockIdx.x]")
    )
    assert result.reason == "unwritten"
    assert "y[0]" in result.details[0]
    assert grade_text("row-sums", text).reason == "wrong"


def test_a_stored_value_equal_to_what_was_there_counts_as_stored(grade_text: GradeText) -> None:
    """The engine knows which bytes a kernel has stored; no guess is made from values."""
    text = """extern "C" __global__ void swap_halves(int n, const int* x, int* y) {
        int i = blockIdx.x * BLOCK + threadIdx.x;
        y[i] = 0;
    }"""
    assert grade_text("halves", text).reason == "wrong"


@pytest.mark.parametrize(
    ("lang", "words"), [("en", "axpy.cu, line 3: y[i]"), ("zh", "axpy.cu 第 3 行：y[i]")]
)
def test_a_finding_has_the_learner_s_line_and_thread(grade_text: GradeText, lang: str, words: str) -> None:
    result = grade_text("axpy", _axpy("y[i] = a * x[i] + y[i];"), lang)
    assert result.reason == "out-of-bounds"
    assert any(words in line for line in result.details)
    assert any("(1, 0, 0)" in line for line in result.details)
    assert "flashpath explain-finding out-of-bounds" in result.details[-1]
    assert result.mutant == "no-tail-check"


def test_an_input_that_was_changed_is_found(grade_text: GradeText) -> None:
    result = grade_text("axpy", _axpy("if (i < n) { y[i] = a * x[i] + y[i]; if (i == 7) x[i] = -x[i]; }"))
    assert result.reason == "input-changed"
    assert "x[7]" in result.details[0]
    assert "n = 31" in result.headline


def test_a_sign_of_zero_in_an_input_counts(grade_text: GradeText) -> None:
    result = grade_text(
        "axpy", _axpy("if (i < n) { y[i] = a * x[i] + y[i]; if (x[i] == 0.0f) x[i] = 0.0f; }")
    )
    assert result.reason == "input-changed"
    assert "was -0, is 0" in result.details[0]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_compile_error_shows_the_line_and_a_caret(grade_text: GradeText, lang: str) -> None:
    result = grade_text("axpy", _axpy("if (i < n) y[i] = a * x[i] + z[i];"), lang)
    assert result.reason == "compile"
    shown = "\n".join(result.details)
    assert "axpy.cu:3" in shown
    assert 'identifier "z" is undefined' in shown
    assert any(line.strip("| ") == "^" for line in result.details)
    assert "Traceback" not in shown


def test_a_kernel_of_another_name_is_said(grade_text: GradeText) -> None:
    result = grade_text("axpy", 'extern "C" __global__ void other(int n) {}')
    assert result.reason == "compile"
    assert "axpy" in "\n".join(result.details)


def test_a_hang_says_so(grade_text: GradeText) -> None:
    result = grade_text("axpy", _axpy("while (i < n) y[i] = a * x[i] + y[i];"))
    assert result.reason == "timeout"
    assert "hung" in result.headline
    assert result.seconds < 20


@pytest.mark.parametrize(
    "body",
    [
        "for (int k = i; k < 1000000; ++k) y[k] = a * x[k];",
        "for (int k = i; true; k += blockDim.x) y[k] = a * x[k];",
        "for (int k = i; k <= n * 4096; ++k) y[k] = a * x[k];",
        "float s = 0.0f; for (int k = 0; k < 8192; ++k) s += x[k - 8192]; if (i < n) y[i] += s;",
    ],
)
def test_a_loop_beyond_the_arrays_is_no_hang(grade_text: GradeText, body: str) -> None:
    """It is stopped soon after what is found: a GPU would have ended it there."""
    result = grade_text("axpy", _axpy(body))
    assert result.reason == "out-of-bounds"
    assert any("line 3: " in line for line in result.details)
    assert result.seconds < 12.0  # a second where nothing else runs; all of the time limit is 15


def test_an_endless_loop_with_findings_is_a_hang(grade_text: GradeText) -> None:
    result = grade_text("axpy", _axpy("while (y[0] != 1234.5f) y[i % n] = a * x[i % n];"))
    assert result.reason == "timeout"


def test_specials_are_cases_too(grade_text: GradeText) -> None:
    """Right for every finite number, and wrong for infinities alone."""
    finite = "isfinite(x[i]) && isfinite(y[i])"
    result = grade_text("axpy", _axpy(f"if (i < n) y[i] = {finite} ? a * x[i] + y[i] : 0.0f;"))
    assert result.reason == "wrong"
    assert "values specials" in result.headline


def test_shapes_that_are_known_do_not_help(grade_text: GradeText) -> None:
    known = "n == 1 || n == 31 || n == 300 || n == 200"
    result = grade_text("axpy", _axpy(f"if (i < n && ({known})) y[i] = a * x[i] + y[i];"), seed=None)
    assert result.reason == "wrong"
    assert result.cases == 10


def test_sums_in_half_are_refused(grade_text: GradeText) -> None:
    """Also for a kernel that rounds only once in a while."""
    text = """extern "C" __global__ void row_sums(int rows, int n, const float* x, float* y) {
        if (threadIdx.x >= 32) return;
        float sum = 0.0f;
        for (int i = 0; i < n; ++i) {
            sum += x[blockIdx.x * n + i];
            if (n > 64) { short h; asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(sum));
                          asm("cvt.f32.f16 %0, %1;" : "=f"(sum) : "h"(h)); }
        }
        if (threadIdx.x == 0) y[blockIdx.x] = sum;
    }"""
    assert grade_text("row-sums", text.replace("if (n > 64)", "if (0)")).passed
    for seed in range(5):
        assert grade_text("row-sums", text, seed=seed).reason == "wrong"


def test_nan_everywhere_is_wrong(grade_text: GradeText) -> None:
    result = grade_text("axpy", _axpy('if (i < n) y[i] = nanf("");'))
    assert result.reason == "wrong"
    assert "got nan" in result.details[0]


def test_goals_come_after_the_result(grade_text: GradeText) -> None:
    scattered = "if (n % 1024 == 0) i = i % 32 * (n / 32) + i / 32; if (i < n) y[i] = a * x[i] + y[i];"
    result = grade_text("axpy", _axpy(scattered))
    assert result.reason == "goal"
    assert not result.goals[0].reached
    assert result.goals[0].counted == 32
    assert result.cases == 11
    assert "→ Let neighbouring threads read neighbours." in result.details
    assert result.mutant == "scattered"


def test_doing_nothing_at_the_goal_s_size_is_seen(grade_text: GradeText) -> None:
    result = grade_text("axpy", _axpy("if (i < n && n != 4096) y[i] = a * x[i] + y[i];"))
    assert result.reason == "wrong"
    assert "n = 4096" in result.headline


def test_what_a_kernel_prints_is_shown_where_it_fails(grade_text: GradeText) -> None:
    result = grade_text("axpy", _axpy('if (i == 0) printf("n is %d\\n", n); if (i < n) y[i] = 0.0f;'))
    assert result.reason == "wrong"
    assert result.details[-2:] == ("it printed:", "  n is 1")


# ---- Known mistakes ------------------------------------------------------------------------------------


def test_another_text_with_the_same_mistake_gets_its_hint(grade_text: GradeText) -> None:
    result = grade_text("axpy", _axpy("/* mine */ if (n > i) { float v = x[i]; y[i] = v * a; }"))
    assert result.mutant == "not-added"
    assert result.misconception == "y is missing."


def test_a_mistake_of_its_own_gets_none(grade_text: GradeText) -> None:
    result = grade_text("axpy", _axpy("if (i < n) y[i] = a * x[i] + y[i] + 1.0f;"))
    assert result.reason == "wrong"
    assert result.mutant is None
    assert result.misconception is None


def test_a_mistake_that_only_a_small_case_shares_gets_none(grade_text: GradeText) -> None:
    """For one element it stores what a mutant stores; for more it does not."""
    result = grade_text("axpy", _axpy("if (i < n) y[i] = i == 0 ? 0.0f : 1.0f;"))
    assert result.reason == "wrong"
    assert result.mutant is None


def test_looking_for_mistakes_has_an_end(grade_text: GradeText, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(misconceptions, "SECONDS", -1.0)
    assert grade_text("axpy", _axpy("if (i < n) y[i] = 0.0f * n;")).mutant is None


def test_comments_and_space_are_no_difference(grade_text: GradeText) -> None:
    result = grade_text(
        "axpy", _axpy("if (i < n) y[i]=a*x[i]+y[i]; // threadIdx.q").replace("threadIdx.x", "threadIdx.q")
    )
    assert result.reason == "compile"
    assert result.mutant == "misspelt"


# ---- The grade -----------------------------------------------------------------------------------------


def test_a_grade_is_plain_data(grade_text: GradeText) -> None:
    result = grade_text("axpy", _axpy("if (i < n) y[i] = 0.0f;"), "zh")
    data = json.loads(json.dumps(result.to_json()))
    assert data["exercise"] == "kinds/axpy"
    assert data["passed"] is False
    assert data["reason"] == "wrong"
    assert data["misconception"] == "提示：You store zeros."
    assert data["mutant"] == "zeros"
    assert data["seconds"] > 0


def test_a_file_that_is_not_there(course: Course, tmp_path: Path) -> None:
    with pytest.raises(FlashpathError, match="There is no file"):
        grade(course.exercise("kinds/axpy"), tmp_path / "axpy.cu")


@pytest.mark.parametrize("name", ["axpy", "online", "scale"])
def test_a_mark_before_the_first_line_is_none_of_it(name: str, course: Course, grade_text: GradeText) -> None:
    """As editors on Windows write it, in CUDA C++, in Python and in Triton."""
    assert grade_text(name, "\ufeff" + course.exercise(f"kinds/{name}").solution_text()).passed


def test_a_file_of_other_bytes(course: Course, tmp_path: Path) -> None:
    file = tmp_path / "axpy.cu"
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(FlashpathError, match="UTF-8"):
        grade(course.exercise("kinds/axpy"), file)


@pytest.mark.parametrize("text", ["", "\n", "}" * 50, "中文", "#error no\n", "\0"])
def test_garbage_is_a_compile_error_in_words(grade_text: GradeText, text: str) -> None:
    result = grade_text("axpy", text)
    assert result.reason in ("compile", "refused")
    assert "Traceback" not in str(result)


# ---- Functions -----------------------------------------------------------------------------------------


def test_an_exception_shows_the_learner_s_line(grade_text: GradeText) -> None:
    result = grade_text("online", "def update(m, l, s):\n    return m, l / 0\n")
    assert result.reason == "crashed"
    assert "n = 1" in result.headline
    shown = "\n".join(result.details)
    assert "return m, l / 0" in shown
    assert "ZeroDivisionError" in shown
    assert "Traceback" not in shown


def test_what_a_function_prints_is_shown_where_it_fails(grade_text: GradeText) -> None:
    result = grade_text("online", "def update(m, l, s):\n    print('m is', m)\n    return m, l\n")
    assert any(line.startswith("  m is ") for line in result.details)


def test_a_warning_names_the_file_as_its_author_does(grade_text: GradeText) -> None:
    text = "import numpy as np\ndef update(m, l, s):\n    np.log(np.float64(-1.0))\n    return m, l\n"
    shown = "\n".join(grade_text("online", text).details)
    assert ".py:3: RuntimeWarning" in shown
    assert "sandbox" not in shown


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("return m", "returned 1 values, expected 2: m_new, l_new"),
        ("return m, s", "l_new has the shape (1,), expected ()"),
        ("return s.max(), float('nan')", "m_new is"),
    ],
)
def test_what_is_returned_is_looked_at(grade_text: GradeText, body: str, words: str) -> None:
    result = grade_text("online", f"import numpy as np\ndef update(m, l, s):\n    {body}\n")
    assert result.reason == "wrong"
    assert words in result.headline


def test_a_float_is_judged_by_the_type_asked_for(grade_text: GradeText) -> None:
    """Half precision is too coarse for float64, though what is expected would be the same in half."""
    body = "import numpy as np\ndef update(m, l, s):\n    m_new = max(m, s.max())\n"
    body += "    return np.float16(m_new), l * np.exp(m - m_new) + np.exp(s - m_new).sum()\n"
    result = grade_text("online", body)
    assert result.reason == "wrong"
    assert "m_new is" in result.headline


def test_a_syntax_error_shows_the_line(grade_text: GradeText) -> None:
    result = grade_text("online", "def update(m, l, s)\n    return m, l\n")
    assert result.reason == "compile"
    assert "line 1" in str(result) or ":1" in str(result)


# ---- Speed ---------------------------------------------------------------------------------------------

_COLD = """
import sys, time
start = time.perf_counter()
from pathlib import Path
from flashpath.course.content import load_course
from flashpath.course.grader import grade
exercise = load_course(Path(sys.argv[1])).exercise(sys.argv[2])
assert grade(exercise, exercise.solution).passed
print(time.perf_counter() - start)
"""


@pytest.mark.alone
@pytest.mark.parametrize(
    ("name", "most"), [("axpy", 3.0), ("row-sums", 3.0), ("scale", 6.0), ("squares", 4.0)]
)
def test_a_grade_comes_soon(name: str, most: float, course: Course) -> None:
    """In a process of its own, imports included; the better of two: the first may wait for the disk."""
    command = [sys.executable, "-c", _COLD, str(course.root), f"kinds/{name}"]
    took = [float(subprocess.run(command, capture_output=True, text=True, check=True).stdout) for _ in "ab"]
    assert min(took) < most
