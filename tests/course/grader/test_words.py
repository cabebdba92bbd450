"""What is said of answers that do not come as far as a result: in the right words, in both languages."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from flashpath.course.grader import Grade, kernel, launching
from flashpath.course.grader.failing import failure_of
from flashpath.course.grader.verdict import said
from flashpath.course.sandbox import Crashed, Refused, TimedOut, check_python
from flashpath.messages import speaking, told

GradeText = Callable[..., Grade]

AXPY = 'extern "C" __global__ void {bounds} axpy(int n, float a, const float* x, float* y) {{\n{body}\n}}\n'


@pytest.mark.parametrize(("lang", "words"), [("en", "its launch failed"), ("zh", "编译通过，但启动失败")])
def test_a_launch_that_fails_is_no_compile_error(grade_text: GradeText, lang: str, words: str) -> None:
    result = grade_text("axpy", AXPY.format(bounds="__launch_bounds__(32)", body=""), lang)
    assert result.reason == "launch"
    assert words in result.headline
    assert "32" in result.details[0]
    assert lang == "en" or "线程" in result.details[0]


@pytest.mark.parametrize(
    ("end", "reason"), [("y[n + i] = 0.0f;", "out-of-bounds"), ("while (true) y[0] = x[0];", "timeout")]
)
def test_a_fault_where_only_work_is_counted_has_its_line(
    grade_text: GradeText, end: str, reason: str
) -> None:
    body = "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) y[i] = a * x[i] + y[i];\n"
    result = grade_text("axpy", AXPY.format(bounds="", body=f"{body}  if (n == 4096) {end}\n"))
    assert result.reason == reason
    assert any("line 4: " in line for line in result.details)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("m + l", "Value 1 of what the function returned is None: is a `return` missing?"),
        ("return {'m': m, 'l': l}", "is of the type dict"),
        ("return (k for k in (m, l))", "is of the type generator"),
        ("return m, [l]", "Value 2 of what the function returned is of the type list"),
        ("return np.array([m, None]), l", "is of the type ndarray[object]"),
        ("return complex(m), l", "is of the type complex"),
        ("return 'one', l", "is of the type str"),
        ("return [0.0] * 1000", "far more values than are expected"),
    ],
)
def test_what_is_no_number_is_not_called_an_exception(grade_text: GradeText, body: str, words: str) -> None:
    result = grade_text("online", f"import numpy as np\ndef update(m, l, s):\n    {body}\n")
    assert result.reason == "wrong"
    assert words in result.headline
    chinese = grade_text("online", f"import numpy as np\ndef update(m, l, s):\n    {body}\n", "zh")
    assert chinese.headline.startswith("函数返回的")


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_slow_compiler_is_no_loop_of_the_learner_s(
    grade_text: GradeText, lang: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launching, "LIMITS", replace(launching.LIMITS, build_seconds=0.001))

    def session_for(*given: object, **more: object) -> object:
        return launching.session_for(*given, limits=launching.LIMITS, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(kernel, "session_for", session_for)
    result = grade_text("axpy", AXPY.format(bounds="", body=""), lang)
    assert result.reason == "timeout"
    assert ("Compiling took more than" if lang == "en" else "编译超过") in result.headline


@pytest.mark.parametrize(
    "source",
    [
        "import os",
        "().__class__",
        "open('x')",
        "from . import x",
        "import numpy as np\nnp.memmap",
        "-" * 3000 + "1",
    ],
)
def test_refusals_are_said_in_chinese(source: str) -> None:
    with pytest.raises(Refused) as caught:
        check_python(source, "f.py", ("math", "numpy"))
    failure = failure_of(caught.value)
    with speaking("zh"):
        headline, details = str(failure.headline), said(failure.details)
    assert headline.startswith("这里不允许这样做：")
    assert details
    for line in (headline.removeprefix("这里不允许这样做："), *details):
        assert re.search("[\u4e00-\u9fff]", line), line


def test_errors_of_processes_are_said_in_chinese() -> None:
    for how in (
        told("course.sandbox.ended-by-signal", signal="SIGSEGV"),
        told("course.sandbox.exited", code=3),
        told("course.sandbox.closed-its-pipe"),
    ):
        failure = failure_of(Crashed(how))
        with speaking("zh"):
            assert how.text("en") not in str(failure.headline)
            assert all(re.search("[\u4e00-\u9fff]", line) for line in said(failure.details))
    building, importing = (
        told("course.sandbox.building", file="f"),
        told("course.sandbox.importing", file="f"),
    )
    assert "编译" in failure_of(TimedOut(building, 30.0)).headline.text("zh")
    assert "导入" in failure_of(TimedOut(importing, 30.0)).headline.text("zh")


def test_details_of_findings_are_chinese(grade_text: GradeText) -> None:
    body = "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  y[i] = a * x[i] + y[i];\n"
    result = grade_text("axpy", AXPY.format(bounds="", body=body), "zh")
    assert result.reason == "out-of-bounds"
    assert re.search("读取 4 字节：距数组开头", result.details[0])
    assert re.search("[\u4e00-\u9fff]{4}", result.headline)
