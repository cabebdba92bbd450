"""Children that build and run: what they give back, and how they fail."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from flashpath.course.sandbox import (
    BuildFailed,
    FunctionSession,
    KernelJob,
    KernelSession,
    Limits,
    Parameter,
    Raised,
    Refused,
    SandboxError,
    TimedOut,
    check_python,
    enforced,
    folders,
    functions,
)
from flashpath.course.sandbox.cuda_source import check_cuda
from flashpath.course.sandbox.directives import directives
from flashpath.course.sandbox.inside import frames, restrict

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
        (SAXPY.replace("int i", "int64_t i"), "#include <stdint.h>"),
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


def test_what_a_kernel_prints_is_kept_and_bounded() -> None:
    source = SAXPY.replace("if (i < n)", 'if (i == 0) printf("n = %d\\n", n);\n  if (i < n)')
    with KernelSession(replace(JOB, source=source), Limits(output_bytes=20)) as session:
        assert _saxpy(session).printed == "n = 1000\n"
        printed = [_saxpy(session).printed for _ in range(3)]
        assert printed == ["n = 1000\n"] * 3


def test_includes_are_found_where_they_stand() -> None:
    text = 'int a;\n#inc\\\nlude "x.h"\n// no #include needed\n#include <b.h>\n# include MACRO\n'
    found = {(each.name, each.line) for each in directives(text) if each.kind == "include"}
    assert found == {("x.h", 2), ("b.h", 5), (None, 6)}


@pytest.mark.parametrize(
    "text",
    [
        '#\finclude "/etc/hostname"',
        '#\vinclude "/etc/hostname"',
        '\f#include "/etc/hostname"',
        '%:include "/etc/hostname"',
        '??=include "/etc/hostname"',
        '#inc\\\nlude "/etc/hostname"',
        '#inc\\ \nlude "/etc/hostname"',
        '#inc??/\nlude "/etc/hostname"',
        '#/*\n*/include/*\n*/"/etc/hostname"',
        "/* a\n*/ #include MACRO",
        '#include_next "/etc/hostname"',
        '#import "/etc/hostname"',
        '#embed "/etc/hostname"',
        "#include </etc/hostname>",
        '#include "a/../../etc/hostname"',
        '#define M "/etc/hostname"\n#include M',
        "#define S(x) #x\n#include S(/etc/hostname)",
        "#define LESS <\n#include LESS/etc/hostname>",
        '#if __has_include("/etc/hostname")\n#endif',
        "#if __has_include(MACRO)\n#endif",
        '#if __has_embed("/etc/hostname")\n#endif',
        '#define H __has_include\n#if H("/etc/hostname")\n#endif',
        '#define P(a, b) a##b\n#if P(__has_, include)("/etc/hostname")\n#endif',
        '#define Q \'\n#include "/etc/hostname"',
        '#if 0\n"\n#endif\n#include "/etc/hostname"',
        '#if 0\nR"(\n#endif\n#include "/etc/hostname"',
        'int a;\r#include "/etc/hostname"',
        '_Pragma("include_alias(\\"cuda_fp16.h\\", \\"/etc/hostname\\")")',
        '#pragma GCC dependency "/etc/hostname"',
    ],
)
def test_no_spelling_gets_another_file_past_the_check(text: str) -> None:
    with pytest.raises(Refused):
        check_cuda(f"{text}\n{SAXPY}", "saxpy.cu")


@pytest.mark.parametrize("text", ['#line 7 "other.cu"', "# line 7", '# 7 "other.cu"', "%:line 7"])
def test_lines_cannot_be_renamed(text: str) -> None:
    with pytest.raises(Refused, match=r"saxpy\.cu:2: #.*your own file"):
        check_cuda(f"\n{text}\n{SAXPY}", "saxpy.cu")


@pytest.mark.parametrize(
    "text",
    [
        "// there is no need to #include anything; __CUDA_ARCH__ is there",
        "/* with #include you\n get */ #include <cuda_fp16.h>",
        '#if __CUDA_ARCH__ >= 800  // "new"\n#endif',
        "#define NAMED(x) #x\n#define LINE(x) #x",
        '#if __has_include(<cuda/std/cmath>) && __has_include("cuda_bf16.h")\n#endif',
        '#define UNROLL(n) _Pragma("unroll")',
    ],
)
def test_what_reads_like_an_include_and_is_none(text: str) -> None:
    check_cuda(f"{text}\n{SAXPY}", "saxpy.cu")


@pytest.mark.parametrize(
    "text", ["#/*", "# ", "#if ", "#include <", "*/ ", "??=", "\\\n", "_Pragma ", "#pragma\r"]
)
def test_a_long_text_is_read_in_little_time(text: str) -> None:
    began = time.monotonic()
    with contextlib.suppress(Refused):
        check_cuda(text * ((1 << 18) // len(text)), "saxpy.cu")
    assert time.monotonic() - began < 5


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


# ---- Functions -----------------------------------------------------------------------------------------


def test_a_function_is_called_by_value() -> None:
    source = "import numpy as np\ndef f(x, a):\n    x[:] = 0\n    print('called')\n"
    source += "    return x + a, a, np.float32(3)\n"
    with FunctionSession(source, "f.py", "f") as session:
        x = np.ones((2, 3))
        values = session.call((x, 2))
        assert np.array_equal(values[0], np.full((2, 3), 2.0))
        assert values[1] == 2.0
        assert values[2] == np.float32(3)
        assert np.array_equal(x, np.ones((2, 3)))
        assert session.printed == "called\n"


def test_torch_comes_and_goes_as_arrays() -> None:
    source = "import torch\ndef f(x):\n    return x @ x, x.to(torch.bfloat16)\n"
    with FunctionSession(source, "f.py", "f", ("torch",), "torch") as session:
        product, narrow = session.call((np.ones(4, np.float32),))
        assert product == 4.0
        assert isinstance(narrow, np.ndarray)
        assert narrow.dtype.name == "bfloat16"


def test_an_exception_shows_the_learners_line() -> None:
    with FunctionSession("def f(x):\n    y = x\n    return y / 0\n", "f.py", "f") as session:
        with pytest.raises(Raised, match="ZeroDivisionError") as caught:
            session.call((1,))
        assert "return y / 0" in str(caught.value)
        assert caught.value.diagnostics[0].line == 3
        with pytest.raises(Raised):  # and the session goes on
            session.call((2,))


_NOT_AN_EXCEPTION = "class Odd(BaseException):\n    def __str__(self): raise Odd\n"


@pytest.mark.parametrize("raised", ["KeyboardInterrupt", "SystemExit(3)", "GeneratorExit", "Odd()"])
@pytest.mark.parametrize("at_import", [True, False])
def test_no_kind_of_exception_shows_more_than_the_learners_line(raised: str, at_import: bool) -> None:
    body = f"raise {raised}\ndef f(): return 0.0\n" if at_import else f"def f():\n    raise {raised}\n"
    with (
        pytest.raises(BuildFailed if at_import else Raised) as caught,
        FunctionSession(_NOT_AN_EXCEPTION + body, "f.py", "f") as session,
    ):
        session.call(())
    shown = str(caught.value)
    assert f"raise {raised}" in shown
    assert "worker" not in shown
    assert "learner_file" not in shown
    assert not caught.value.printed


@linux
def test_an_interrupt_at_the_import_of_a_triton_file_shows_its_line() -> None:
    with (
        pytest.raises(BuildFailed, match="KeyboardInterrupt") as caught,
        KernelSession(replace(TRITON, source="raise KeyboardInterrupt\n" + SOFTMAX)),
    ):
        pass
    assert caught.value.diagnostics[0].line == 1
    assert not caught.value.printed


def test_a_hang_at_import_says_so() -> None:
    began = time.monotonic()
    limits = Limits(import_seconds=1.0)
    with (
        pytest.raises(TimedOut, match=r"import of f\.py") as caught,
        FunctionSession("while True: pass\ndef f(): return 0.0\n", "f.py", "f", limits=limits),
    ):
        pass
    assert caught.value.at_import
    assert time.monotonic() - began < 15
    assert Limits().import_seconds <= 5


@linux
def test_a_hang_at_the_import_of_a_triton_file_says_so() -> None:
    job = replace(TRITON, source=SOFTMAX + "while True: pass\n")
    limits = Limits(import_seconds=1.0)
    with pytest.raises(TimedOut, match=r"import of softmax\.py"), KernelSession(job, limits):
        pass


def test_a_hang_says_that_it_hung() -> None:
    with FunctionSession(
        "def f(x):\n    while True: pass\n", "f.py", "f", limits=Limits(run_seconds=0.3)
    ) as session:
        with pytest.raises(TimedOut, match="hung") as caught:
            session.call((1,))
        assert caught.value.seconds == 0.3


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("import os", "import os"),
        ("from os import path", "import os"),
        ("from . import x", "one file"),
        ("import numpy.ctypeslib", "ctypeslib"),
        ("from numpy import ctypeslib", "ctypeslib"),
        ("import numpy as np\nnp.memmap", "memmap"),
        ("().__class__", "__class__"),
        ("__builtins__", "__builtins__"),
        ("x = open", "open"),
        ("getattr(1, 'real')", "getattr"),
    ],
)
def test_what_an_answer_may_not_contain(source: str, said: str) -> None:
    with pytest.raises(Refused, match=said):
        check_python(source, "f.py", ("math", "numpy"))


def test_what_an_answer_may_contain() -> None:
    check_python(
        "import numpy as np\nfrom math import exp\nfrom __future__ import annotations\nexp2 = 1\n",
        "f.py",
        ("math", "numpy"),
    )


# ---- Children ------------------------------------------------------------------------------------------

_HANGING = """
from flashpath.course.sandbox import FunctionSession
with FunctionSession("def f(x):\\n    while True: pass\\n", "f.py", "f") as session:
    print(session._child._process.pid, session._child.folder, flush=True)
    session.call((1.0,))
"""


def _is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@linux
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_child_ends_with_its_parent(how: signal.Signals, hears_control_c: None) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", _HANGING], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert parent.stdout is not None
    child, folder = parent.stdout.readline().decode().split(maxsplit=1)
    os.kill(parent.pid, how)
    parent.wait(20)
    parent.stdout.close()
    end = time.monotonic() + 10
    while _is_running(int(child)) and time.monotonic() < end:
        time.sleep(0.02)
    assert not _is_running(int(child))
    if how is signal.SIGINT:
        assert not Path(folder.strip()).exists()


def _unread(*_: object) -> None:
    return


def _folder_after(source: str, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, SandboxError | None]:
    """Where the child worked, after a call and its end; and what the call was stopped for."""
    monkeypatch.setattr(functions, "check_python", _unread)
    caught: SandboxError | None = None
    with FunctionSession(f"import os\ndef f():\n{source}    return 0.0\n", "f.py", "f") as session:
        child = session._child  # pyright: ignore[reportPrivateUsage]
        assert child is not None
        try:
            session.call(())
        except SandboxError as error:
            caught = error
    return child.folder, caught


@linux
def test_folders_deeper_than_a_path_are_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    source = "    for _ in range(3000):\n        os.mkdir('d')\n        os.chdir('d')\n"
    folder, stopped = _folder_after(source, monkeypatch)
    assert not folder.exists()
    assert stopped is not None
    assert "made" in str(stopped)


@linux
@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("    for i in range(9000): open(str(i), 'w').close()\n", "made more than 2000 files"),
        (
            "    for i in range(6):\n"
            "        with open(str(i), 'wb') as file:\n"
            "            for _ in range(50): file.write(bytes(1 << 20))\n",
            "wrote more than 256 MiB",
        ),
        ("    for i in range(50):\n        os.mkdir('d', 0o300)\n        os.chdir('d')\n", "without end"),
    ],
)
def test_what_a_child_writes_is_bounded(source: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, stopped = _folder_after(source, monkeypatch)
    assert said in str(stopped)
    assert "needs no files" in str(stopped)
    assert not folder.exists()


@linux
def test_the_filter_knows_both_architectures() -> None:
    for which, architecture in restrict._ARCHITECTURES.values():  # pyright: ignore[reportPrivateUsage]
        program = restrict._program(which, architecture, 1)  # pyright: ignore[reportPrivateUsage]
        assert len(program) < 4096  # the kernel takes no more
        for at, (code, if_true, if_false, _) in enumerate(program):
            if code & 0x07 == 0x05:  # a jump
                assert at + 1 + max(if_true, if_false) < len(program)
    refused = restrict._REFUSED  # pyright: ignore[reportPrivateUsage]
    for which in (0, 1):
        numbers = [pair[which] for pair in refused.values() if pair[which] is not None]
        assert len(set(numbers)) == len(numbers)


@linux
def test_whatever_a_child_leaves_is_removed_soon(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    deep = folder
    for _ in range(40):
        deep = deep / "closed"
    deep.mkdir(parents=True)
    (deep / "file").touch()
    (folder / "link").symlink_to(tmp_path)
    (folder / "gone").symlink_to("nowhere")
    (tmp_path / "kept").touch()
    for number in range(20_000):
        (folder / f"f{number}").touch()
    for each in [deep, *deep.parents][: len(deep.relative_to(tmp_path).parts)]:
        each.chmod(0)
    began = time.monotonic()
    folders.remove_folder(folder)
    assert time.monotonic() - began < 10
    assert not folder.exists()
    assert (tmp_path / "kept").exists()
    folders.remove_folder(folder)  # once more, with nothing there


@linux
def test_folders_of_processes_that_are_gone_are_swept_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    made = "from flashpath.course.sandbox import folders; print(folders.make_folder())"
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    printed = subprocess.run([sys.executable, "-c", made], env=environment, capture_output=True, check=True)
    abandoned = Path(printed.stdout.decode().strip())
    (abandoned / "file").touch()
    own = folders.make_folder()
    elsewhere = tmp_path / abandoned.name.replace(abandoned.name.split("-")[4], "0badcafe")
    elsewhere.mkdir()
    reused = tmp_path / own.name.replace(f"-{own.name.split('-')[3]}-", "-1-")
    reused.mkdir()
    (tmp_path / "flashpath-sandbox-nobody-x").mkdir()
    (tmp_path / f"{abandoned.name}_").symlink_to(own)
    folders.sweep.__wrapped__()
    assert not abandoned.exists()
    assert not reused.exists()
    assert own.exists()
    assert elsewhere.exists()  # of another container, it may be: an hour first
    os.utime(elsewhere, (0, 0))
    folders.sweep.__wrapped__()
    assert not elsewhere.exists()


def test_nothing_is_left_behind() -> None:
    with FunctionSession("def f(x): return x", "f.py", "f") as session:
        child = session._child  # pyright: ignore[reportPrivateUsage]
        assert child is not None
        assert child.folder.exists()
    assert not child.folder.exists()
    with pytest.raises(RuntimeError, match="closed"):
        session.call((1,))


@linux
def test_children_get_no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(functions, "check_python", _unread)
    monkeypatch.setenv("FLASHPATH_SECRET", "seed")
    source = "import os\ndef f(): return float(any('FLASHPATH' in each for each in os.environ))\n"
    with FunctionSession(source, "f.py", "f") as session:
        assert session.call(()) == (0.0,)


@linux
def test_what_is_enforced_is_tried_out() -> None:
    assert {"time", "files", "rlimits", "dies-with-parent"} <= set(enforced())


def test_every_error_is_one_that_a_learner_can_read() -> None:
    assert issubclass(Raised, SandboxError)
    assert "more than 3 s" in str(TimedOut("building x.cu", 3.0))
