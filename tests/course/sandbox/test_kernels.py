"""Kernels in children: what they give back, and how they fail."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from flashpath.course.sandbox import (
    BuildFailed,
    KernelJob,
    KernelSession,
    Limits,
    Parameter,
    TimedOut,
    folders,
)
from flashpath.course.sandbox.inside import frames

SAXPY = """
extern "C" __global__ void saxpy(int n, float a, const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
"""
JOB = KernelJob(
    "cuda",
    SAXPY,
    "saxpy.cu",
    "saxpy",
    parameters=(
        Parameter("n", "int32", False),
        Parameter("a", "float32", False),
        Parameter("x", "float32", True),
        Parameter("y", "float32", True),
    ),
)
SOFTMAX = """
import triton
import triton.language as tl


@triton.jit
def softmax(x, y, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    v = tl.load(x + row * n + at, mask=at < n, other=-float("inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(y + row * n + at, e / tl.sum(e, 0), mask=at < n)
"""
TRITON = KernelJob(
    "triton",
    SOFTMAX,
    "softmax.py",
    "softmax",
    constants={"BLOCK": 256},
    parameters=(
        Parameter("x", "float32", True),
        Parameter("y", "float32", True),
        Parameter("n", "int32", False),
    ),
)
linux = pytest.mark.skipif(sys.platform != "linux", reason="Linux only")


def _saxpy(session: KernelSession, n: int = 1000, **options: Any):
    x, y = np.arange(n, dtype=np.float32), np.ones(n, np.float32)
    return session.run((-(-n // 256),), (256,), 0, (n, 2.0, x, y), ("y",), **options)


# ---- CUDA ----------------------------------------------------------------------------------------------


def test_a_cuda_kernel_runs_on_copies_and_counts() -> None:
    with KernelSession(JOB) as session:
        y = np.ones(1000, np.float32)
        x = np.arange(1000, dtype=np.float32)
        run = session.run(
            (4,), (256,), 0, (1000, 2.0, x, y), ("y",), counts=("report.dram_bytes / n",), names={"n": 1000}
        )
        assert np.array_equal(run.arrays[0], 2 * x + 1)
        assert run.written[0].all()
        assert not run.findings
        assert run.counts == {"report.dram_bytes / n": 12.0}
        assert np.array_equal(y, np.ones(1000))  # the caller's stays as it is

        short = session.run((3,), (256,), 0, (1000, 2.0, x, y), (3,))
        assert short.written[0].sum() == 768
        beyond = session.run((4,), (256,), 0, (1003, 2.0, x, y), ("y",))
        assert {finding.kind for finding in beyond.findings} == {"out-of-bounds"}
        assert beyond.findings[0].file == "saxpy.cu"
        assert beyond.findings[0].line == 4
        constant = session.run((4,), (256,), 0, (1000, 2.0, x, y), ())
        assert constant.findings[0].kind == "const-write"
        unset = session.run((4,), (256,), 0, (1000, 2.0, x, y), ("y",), unset=("y",))
        assert unset.findings[0].kind == "uninitialized"


def test_an_empty_array_and_half_precision() -> None:
    source = """#include <cuda_bf16.h>
    extern "C" __global__ void twice(int n, const __nv_bfloat16* x, __nv_bfloat16* y) {
      for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = x[i] + x[i];
    }"""
    parameters = (
        Parameter("n", "int32", False),
        Parameter("x", "bfloat16", True),
        Parameter("y", "bfloat16", True),
    )
    bfloat16 = frames.dtype_named("bfloat16")
    with KernelSession(KernelJob("cuda", source, "twice.cu", "twice", parameters=parameters)) as session:
        x = np.array([1.0, 2.5, -3.0]).astype(bfloat16)
        run = session.run((1,), (32,), 0, (3, x, np.zeros(3, bfloat16)), ("y",))
        assert run.arrays[0].dtype == bfloat16
        assert run.arrays[0].astype(np.float32).tolist() == [2.0, 5.0, -6.0]
        empty = session.run((1,), (32,), 0, (0, x[:0], x[:0]), ("y",))
        assert empty.arrays[0].shape == (0,)


def test_a_compile_error_shows_the_learners_line() -> None:
    with (
        pytest.raises(BuildFailed) as caught,
        KernelSession(replace(JOB, source=SAXPY.replace("y[i] =", "z[i] ="))),
    ):
        pass
    assert "saxpy.cu:4" in str(caught.value)
    assert "if (i < n) z[i] = a" in str(caught.value)
    assert caught.value.diagnostics[0].line == 4


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("", "is empty"),
        (SAXPY.replace("saxpy", "sexpy"), "saxpy"),
        (SAXPY.replace("float* y", "double* y"), "keep the skeleton's parameters"),
        (SAXPY.replace("float a, ", "").replace("a *", "2 *"), "takes 3 parameters"),
    ],
)
def test_what_is_not_the_kernel_that_is_asked_for(source: str, said: str) -> None:
    with pytest.raises(BuildFailed, match=said), KernelSession(replace(JOB, source=source)):
        pass


@pytest.mark.parametrize(
    ("source", "fix"),
    [
        ("#include <iostream>\n" + SAXPY, "printf and assert are there without any"),
        ("#include <vector>\n" + SAXPY, "Remove the line"),
        ("#include <thrust/sort.h>\n" + SAXPY, "Remove the line"),
        ('#include "helpers.h"\n' + SAXPY, "An answer is one file"),
        ("namespace {\n" + SAXPY.replace('extern "C"', "") + "}", "in no namespace"),
        (SAXPY.replace('extern "C"', "template <int N>"), "no template"),
        (SAXPY.replace("saxpy", "sexpy"), "The exercise calls saxpy"),
        (SAXPY.replace("a * x[i]", "tex1Dfetch<float>(0, i)"), "virtual GPU"),
        (SAXPY.replace("a * x[i]", "tex1Dfetch(x, i)"), ""),
        ("int main() {}\n" + SAXPY, "no host code"),
    ],
)
def test_advice_is_what_a_learner_can_follow(source: str, fix: str) -> None:
    with pytest.raises(BuildFailed) as caught, KernelSession(replace(JOB, source=source)):
        pass
    shown = str(caught.value)
    assert fix in shown
    for hidden in (
        "fp.compile", "nvcc", "name_expressions", "includes=", "threads=", "Did you mean", "-default-device",
        "builtin_header", "Searched", "/", "0x",
    ):  # fmt: skip
        assert hidden not in shown.replace("<thrust/sort.h>", "").replace(
            "__host__/__device__/__global__", ""
        )


_STAND_INS = sorted(each.name for each in (Path(folders.__file__).parent / "headers").iterdir())


def test_headers_that_a_kernel_can_do_with_are_there() -> None:
    includes = "".join(f"#include <{each}>\n" for each in _STAND_INS if each != "type_traits")
    source = (
        includes
        + """#include <cuda_fp16.h>
    extern "C" __global__ void saxpy(int n, float a, const float* x, float* y) {
      uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
      assert(n > 0 && INT_MAX > n && FLT_MAX > a && M_PI > 3);
      float least = std::numeric_limits<float>::lowest();
      if (i < n) y[i] = std::max(a * std::sqrt(x[i] * x[i]), std::max(least, -INFINITY));
      if (i == 0) std::printf("%d\\n", n);
    }"""
    )
    with KernelSession(replace(JOB, source=source)) as session:
        run = _saxpy(session)
        assert run.printed == "1000\n"
        np.testing.assert_allclose(run.arrays[0], 2 * np.arange(1000), atol=1e-3)


@pytest.mark.parametrize("name", _STAND_INS)
def test_each_of_them_compiles_by_itself(name: str) -> None:
    with KernelSession(replace(JOB, source=f"#include <{name}>\n{SAXPY}")):
        pass


def test_a_cache_that_cannot_be_written_is_not_among_what_was_printed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("FLASHPATH_CACHE_DIR", str(tmp_path / "file"))
    source = SAXPY.replace("if (i < n)", 'if (i == 1) printf("n is %d\\n", n);\n  if (i < n)')
    with KernelSession(replace(JOB, source=source)) as session:
        assert _saxpy(session).printed == "n is 1000\n"


def test_what_a_kernel_prints_is_kept_and_bounded() -> None:
    source = SAXPY.replace("if (i < n)", 'if (i == 0) printf("n = %d\\n", n);\n  if (i < n)')
    with KernelSession(replace(JOB, source=source), Limits(output_bytes=20)) as session:
        assert _saxpy(session).printed == "n = 1000\n"
        printed = [_saxpy(session).printed for _ in range(3)]
        assert printed == ["n = 1000\n"] * 3


# ---- Triton --------------------------------------------------------------------------------------------


@linux
def test_a_triton_kernel_runs_without_its_python() -> None:
    with KernelSession(replace(TRITON, source=SOFTMAX + "print('imported')\n")) as session:
        x = np.random.default_rng(0).standard_normal((5, 100)).astype(np.float32)
        run = session.run((5,), (), 0, (x, np.zeros_like(x), 100), ("y",), counts=("report.dram_bytes",))
        expected = np.exp(x - x.max(1, keepdims=True))
        np.testing.assert_allclose(run.arrays[0], expected / expected.sum(1, keepdims=True), rtol=1e-5)
        assert run.written[0].all()
        assert not run.findings
        assert run.counts["report.dram_bytes"] == 4032.0  # in whole sectors
        assert run.printed == "imported\n"
        wide = session.run((5,), (), 0, (x, np.zeros_like(x), 101), ("y",))
        assert wide.findings[0].kind == "out-of-bounds"
        assert wide.findings[0].file == "softmax.py"


@linux
def test_that_block_pointers_are_deprecated_is_not_told_at_every_answer() -> None:
    block = "tl.load(tl.make_block_ptr(x, (n,), (1,), (0,), (BLOCK,), (0,)), boundary_check=(0,))"
    source = SOFTMAX.replace('tl.load(x + row * n + at, mask=at < n, other=-float("inf"))', block)
    with KernelSession(replace(TRITON, source=source)) as session:
        x = np.ones((1, 100), np.float32)
        assert session.run((1,), (), 0, (x, np.zeros_like(x), 100), ("y",)).printed == ""


@linux
@pytest.mark.parametrize(
    ("was", "now", "line", "said"),
    [
        ("tl.exp", "tl.expp", 11, "expp"),
        ("tl.max(v, 0)", "tl.max(v, 5)", 11, "axis"),
        ("BLOCK: tl", "SIZE: tl", 6, "BLOCK"),
        ("@triton.jit", "1 / 0\n@triton.jit", 6, "ZeroDivisionError"),
        ("def softmax(", "def softmax(:", 7, "SyntaxError"),
    ],
)
def test_a_triton_error_shows_the_learners_line(was: str, now: str, line: int, said: str) -> None:
    with (
        pytest.raises(BuildFailed, match=said) as caught,
        KernelSession(replace(TRITON, source=SOFTMAX.replace(was, now))),
    ):
        pass
    assert caught.value.diagnostics[0].line == line


@linux
def test_a_plain_helper_is_told_by_its_line() -> None:
    helper = "def helper(v):\n    return 2 * v\n\n\n@triton.jit"
    source = SOFTMAX.replace("@triton.jit", helper).replace("tl.max(v, 0)", "helper(tl.max(v, 0))")
    with (
        pytest.raises(BuildFailed, match=r"@triton\.jit above it") as caught,
        KernelSession(replace(TRITON, source=source)),
    ):
        pass
    assert "0x" not in str(caught.value)
    assert "(line 15)" in str(caught.value)
    assert caught.value.diagnostics[0].line == 6


@linux
def test_advice_of_tritons_that_a_learner_cannot_follow_is_left_out() -> None:
    source = SOFTMAX.replace("@triton.jit", "SCALE = 3\n@triton.jit").replace("tl.max(v, 0)", "SCALE")
    with pytest.raises(BuildFailed, match="SCALE") as caught, KernelSession(replace(TRITON, source=source)):
        pass
    assert "envvar" not in str(caught.value)
    assert "NameError: Cannot access" in str(caught.value)


@linux
def test_an_interrupt_at_the_import_of_a_triton_file_shows_its_line() -> None:
    with (
        pytest.raises(BuildFailed, match="KeyboardInterrupt") as caught,
        KernelSession(replace(TRITON, source="raise KeyboardInterrupt\n" + SOFTMAX)),
    ):
        pass
    assert caught.value.diagnostics[0].line == 1
    assert not caught.value.printed


@linux
def test_a_hang_at_the_import_of_a_triton_file_says_so() -> None:
    job = replace(TRITON, source=SOFTMAX + "while True: pass\n")
    limits = Limits(import_seconds=1.0)
    with pytest.raises(TimedOut, match=r"import of softmax\.py"), KernelSession(job, limits):
        pass
