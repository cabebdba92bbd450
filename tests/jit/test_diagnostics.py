"""Every way a compilation can fail, and the exact words that a learner then reads."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest

import flashpath as fp
from flashpath.jit import CompileError, KernelCache, MissingCompiler, MissingInclude, nvrtc, toolkit
from flashpath.jit.diagnostics import Diagnostic, parse_log


def _compilers() -> list[Any]:
    try:
        toolkit.nvcc()
    except MissingCompiler:
        return ["nvrtc"]
    return ["nvrtc", "nvcc"]


COMPILERS = _compilers()
needs_nvcc = pytest.mark.skipif("nvcc" not in COMPILERS, reason="nvcc is not on this machine")


def _fails(cache: KernelCache, source: str | Path, arch: str = "sm_80", **given: Any) -> CompileError:
    with pytest.raises(CompileError) as caught:
        fp.compile(source, arch, cache=cache, **given)
    assert cache.entries() == []
    return caught.value


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            'extern "C" __global__ void k(float* p) {\n  p[0] = alpha;\n}\n',
            'source.cu:2:10: error: identifier "alpha" is undefined\n  2 |   p[0] = alpha;\n    |          ^',
        ),
        (
            'extern "C" __global__ void k(float* p) {\n\t\tp[0] =\talpha;\n}\n',
            'source.cu:2:10: error: identifier "alpha" is undefined\n'
            "  2 | \t\tp[0] =\talpha;\n    | \t\t      \t^",
        ),
        (
            "#define TWO 2 + 0 * 1000\n"
            'extern "C" __global__ void k(float* p) {\n  p[0] = TWO + TWO + alpha;\n}\n',
            'source.cu:3:22: error: identifier "alpha" is undefined\n'
            "  3 |   p[0] = TWO + TWO + alpha;\n    |                      ^",
        ),
        (
            "// Größe 大小\n__global__ void k(int* p) { *p = x; }\n",
            'source.cu:2:34: error: identifier "x" is undefined\n'
            "  2 | __global__ void k(int* p) { *p = x; }\n    |                                  ^",
        ),
        (
            "template <class T> __device__ void set(T* p) { p->x = 1; }\n"
            "__global__ void k(float* p) { set(p); }\n",
            'source.cu:1:48: error: expression must have pointer-to-class type but it has type "float *"\n'
            "  1 | template <class T> __device__ void set(T* p) { p->x = 1; }\n"
            "    |                                                ^\n"
            '    detected during instantiation of "void set(T *) [with T=float]" at line 2',
        ),
        (
            "__global__ void k(float* p) { *p = __float2half(1.0f); half h; }\n",
            'source.cu:1:36: error: identifier "__float2half" is undefined\n'
            "  1 | __global__ void k(float* p) { *p = __float2half(1.0f); half h; }\n"
            "    |                                    ^\n"
            'source.cu:1:56: error: identifier "half" is undefined\n'
            "  1 | __global__ void k(float* p) { *p = __float2half(1.0f); half h; }\n"
            "    |                                                        ^\n"
            "  → #include <cuda_fp16.h>",
        ),
    ],
    ids=["plain", "tabs", "macros", "not ASCII", "instantiation", "hint"],
)
def test_the_caret_stands_under_the_place(
    source: str, message: str, compiler: Any, cache: KernelCache
) -> None:
    assert str(_fails(cache, source, compiler=compiler)) == message


@needs_nvcc
def test_a_column_that_a_macro_hides_is_not_made_up(cache: KernelCache) -> None:
    source = "#define SAME(x) x\n__global__ void k() { SAME(foo)(1); }\n"
    assert str(_fails(cache, source, compiler="nvcc")) == (
        'source.cu:2: error: identifier "foo" is undefined\n  2 | __global__ void k() { SAME(foo)(1); }'
    )


def test_more_than_five_errors(cache: KernelCache) -> None:
    body = "\n".join(f"  missing{number};" for number in range(8))
    error = _fails(cache, f'extern "C" __global__ void k() {{\n{body}\n}}\n')
    assert len(error.diagnostics) == 8
    assert str(error).count("is undefined") == 5
    assert str(error).endswith("\n… and 3 more errors.")
    assert "missing7" in error.log


@pytest.mark.parametrize(
    "source",
    [
        'extern "C" __global__ void k(float* p) {\n  if (p) {\n    *p = 1;\n}\n',
        "__global__ void k(float* p) {\n  if (p) {\n    *p = 1;\n}\n",
    ],
)
def test_a_brace_that_is_missing(source: str, cache: KernelCache) -> None:
    first = source.splitlines()[0]
    assert str(_fails(cache, source)) == (
        f'source.cu:1:{len(first)}: error: expected a "}}" to match this "{{"\n'
        f"  1 | {first}\n    | {' ' * (len(first) - 1)}^"
    )


def test_an_error_in_the_source_is_not_blamed_on_a_name(cache: KernelCache) -> None:
    source = "template <class T> __global__ void k(T* p) { *p = 1; }\n__global__ void j() { x; }\n"
    error = _fails(cache, source, name_expressions=["k<float>", "nothing<int>"])
    assert [each.message for each in error.diagnostics] == ['identifier "x" is undefined']


@pytest.mark.parametrize(
    ("source", "hint"),
    [
        ("int twice(int x) { return 2 * x; }", "Mark the function __device__ or __global__."),
        ("float table[4];", "Mark the variable __device__ or __constant__."),
        ("__global__ void k(__nv_bfloat16* p) {}", "#include <cuda_bf16.h>"),
        ("__global__ void k(__nv_fp8_e4m3* p) {}", "#include <cuda_fp8.h>"),
        ("__global__ void k() { using namespace nvcuda; }", "#include <mma.h>"),
        ("namespace cg = cooperative_groups;", "#include <cooperative_groups.h>"),
        ("__device__ int i = threadIdx.x;", None),
    ],
)
def test_hints(source: str, hint: str | None, cache: KernelCache) -> None:
    assert _fails(cache, source + "\n").fix == hint


def test_what_the_compiler_says_of_options_is_shown(cache: KernelCache) -> None:
    error = _fails(cache, "__global__ void k() {}", options=["--nonsense"])
    assert str(error) == "The compiler failed:\nnvrtc: error: unrecognized option --nonsense found"
    error = _fails(cache, "__global__ void k() {}", options=["-Xptxas=--nonsense"])
    assert str(error).startswith("ptxas failed:\nptxas fatal   : Unknown option '-nonsense'")


def test_an_unknown_architecture(cache: KernelCache) -> None:
    with pytest.raises(fp.FlashpathError, match="unknown architecture 'sm_42'"):
        fp.compile("__global__ void k() {}", "sm_42", cache=cache)


# ---- Headers -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("compiler", COMPILERS)
def test_a_missing_header_with_near_names(compiler: Any, tmp_path: Path, cache: KernelCache) -> None:
    (tmp_path / "extra").mkdir()
    (tmp_path / "extra" / "reduce.cuh").write_text("")
    (tmp_path / "redux.txt").write_text("")
    source = tmp_path / "k.cu"
    source.write_text('// header\n#include "reduse.cuh"\n__global__ void k() {}\n')
    error = _fails(cache, source, compiler=compiler, includes=[tmp_path / "extra"])
    assert isinstance(error, MissingInclude)
    first, line, caret, fix = str(error).splitlines()
    assert first.startswith(f"{source}:2:")
    assert "reduse.cuh" in first
    assert line == '  2 | #include "reduse.cuh"'
    assert caret.strip(" |") == "^"
    assert fix == (
        f"  → Searched: {tmp_path}, {tmp_path / 'extra'} and CUDA's own headers. Did you mean reduce.cuh?"
    )


def test_a_missing_header_of_a_string(cache: KernelCache) -> None:
    error = _fails(cache, '#include "tile.cuh"\n__global__ void k() {}\n')
    assert str(error) == (
        'source.cu:1:20: error: cannot open source file "tile.cuh"\n'
        '  1 | #include "tile.cuh"\n    |                    ^\n'
        "  → Searched: no folder (the source is a string) and CUDA's own headers. "
        "Pass its folder: fp.compile(…, includes=[folder])."
    )


@pytest.mark.parametrize("header", ["iostream", "vector", "cstdio", "stdio.h", "cmath", "math.h", "assert.h"])
def test_a_host_header(header: str, cache: KernelCache) -> None:
    error = _fails(cache, f"#include <{header}>\n__global__ void k() {{}}\n")
    assert isinstance(error, MissingInclude)
    assert error.fix == (
        f"<{header}> is a host header; NVRTC compiles device code only. printf and assert need no header; "
        "for the rest use <cuda/std/…> (<cuda/std/cstdint>, <cuda/std/limits>), or compiler='nvcc'."
    )


def test_an_error_inside_a_header_shows_the_header(tmp_path: Path, cache: KernelCache) -> None:
    header = tmp_path / "broken.cuh"
    header.write_text("#pragma once\n__device__ int f() { return y; }\n")
    source = tmp_path / "k.cu"
    source.write_text('#include "broken.cuh"\n__global__ void k() { f(); }\n')
    assert str(_fails(cache, source)) == (
        f'{header}:2:29: error: identifier "y" is undefined\n'
        "  2 | __device__ int f() { return y; }\n    |                             ^"
    )


# ---- ptxas ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("compiler", COMPILERS)
def test_what_ptxas_refuses_is_placed_in_the_source(compiler: Any, cache: KernelCache) -> None:
    source = (
        'extern "C" __global__ void k(int* p) {\n  *p = 1;\n'
        '  asm volatile("nonsense.u32 %0;" ::"r"(*p));\n}\n'
    )
    error = _fails(cache, source, compiler=compiler)
    assert str(error) == (
        "source.cu:3: error: Not a name of any known instruction: 'nonsense'\n"
        '  3 |   asm volatile("nonsense.u32 %0;" ::"r"(*p));'
    )


@pytest.mark.parametrize("compiler", COMPILERS)
def test_wgmma_needs_the_a(compiler: Any, cache: KernelCache) -> None:
    source = 'extern "C" __global__ void k() {\n  asm volatile("wgmma.fence.sync.aligned;");\n}\n'
    error = _fails(cache, source, "sm_90", compiler=compiler)
    assert str(error) == (
        "source.cu:2: error: Instruction 'wgmma.fence' not supported on .target 'sm_90'\n"
        '  2 |   asm volatile("wgmma.fence.sync.aligned;");\n'
        "  → wgmma and setmaxnreg need arch='sm_90a': plain sm_90 does not have them."
    )
    assert fp.compile(source, "sm_90a", compiler=compiler, cache=cache).kernels == ["k"]


# ---- Compilers that are not there ----------------------------------------------------------------------


def test_no_nvcc(cache: KernelCache, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolkit, "_toolkit_roots", list)
    monkeypatch.setattr(toolkit, "_site_packages_roots", list)
    toolkit.nvcc.cache_clear()
    try:
        with pytest.raises(MissingCompiler) as caught:
            fp.compile("__global__ void k() {}", "sm_80", compiler="nvcc", cache=cache)
    finally:
        toolkit.nvcc.cache_clear()
    assert str(caught.value) == (
        "nvcc was not found on PATH, in CUDA_HOME, in /usr/local/cuda or in this Python's packages.\n"
        "  → pip install 'flashpath[nvcc]' brings it; NVRTC (compiler='nvrtc') needs no nvcc."
    )


def test_no_headers(cache: KernelCache, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "cuda_fp16.h").write_text("")  # one wheel of three: not enough
    monkeypatch.setattr(toolkit, "_toolkit_roots", lambda: [tmp_path])
    monkeypatch.setattr(toolkit, "_site_packages_roots", list)
    toolkit.headers.cache_clear()
    try:
        with pytest.raises(MissingCompiler) as caught:
            fp.compile("__global__ void k() {}", "sm_80", cache=cache)
    finally:
        toolkit.headers.cache_clear()
    assert str(caught.value) == (
        "No complete set of CUDA headers was found (cuda_fp16.h, crt/mma.h, cuda/std).\n"
        "  → pip install 'nvidia-cuda-runtime==13.0.*' 'nvidia-cuda-crt==13.0.*' 'nvidia-cuda-cccl==13.0.*'"
    )


def test_no_host_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NVCC_CCBIN", "CXX"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", "")
    toolkit.host_compiler.cache_clear()
    try:
        with pytest.raises(MissingCompiler, match=r"neither g\+\+ nor clang\+\+ is on PATH"):
            toolkit.host_compiler()
    finally:
        toolkit.host_compiler.cache_clear()


def test_no_nvrtc(cache: KernelCache, monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.import_module

    def absent(name: str) -> Any:
        if name.startswith("cuda.bindings"):
            raise ImportError(f"No module named {name!r}")
        return real(name)

    monkeypatch.setattr(importlib, "import_module", absent)
    nvrtc.version.cache_clear()
    try:
        with pytest.raises(
            MissingCompiler, match=r"NVRTC cannot be loaded: No module named 'cuda\.bindings\.nvrtc'"
        ):
            fp.compile("__global__ void k() {}", "sm_80", cache=cache)
    finally:
        nvrtc.version.cache_clear()


# ---- Logs ----------------------------------------------------------------------------------------------


def test_logs_are_read() -> None:
    log = (
        'a folder/x.cu(3): warning #177-D: variable "v" was declared but never referenced\n'
        "  int v;\n      ^\n\n"
        "Remark: The warnings can be suppressed\n\n"
        'x.cu(9): catastrophic error: cannot open source file "y.h"\n'
        '  #include "y.h"\n                ^\n\n'
        "z.cu:4:10: fatal error: w.h: No such file or directory\n"
        "x.cu(12): error: no caret here\n"
        "          detected during something\n"
        "1 error detected.\n"
    )
    assert parse_log(log) == [
        Diagnostic(
            "a folder/x.cu",
            3,
            7 - 2,
            "warning",
            'variable "v" was declared but never referenced',
            "",
            "int v;",
        ),
        Diagnostic("x.cu", 9, 15, "error", 'cannot open source file "y.h"', "", '#include "y.h"'),
        Diagnostic("z.cu", 4, 10, "error", "w.h: No such file or directory"),
        Diagnostic(
            "x.cu", 12, None, "error", "no caret here", "detected during something\n1 error detected."
        ),
    ]
    assert parse_log("") == []


@pytest.mark.parametrize("compiler", ["nvrtc", "nvcc"])
def test_the_caret_stands_under_its_place_after_wide_characters(compiler: Any, cache: KernelCache) -> None:
    if compiler == "nvcc":
        try:
            toolkit.nvcc()
        except MissingCompiler as error:
            pytest.skip(str(error))
    source = "__global__ void k(float* x) {\n  /* 注释 é */ x[0] = yy;\n}"
    with pytest.raises(CompileError) as caught:
        fp.compile(source, "sm_80", compiler=compiler, cache=cache)
    place, line, caret = str(caught.value).splitlines()[:3]
    assert place.startswith(f"source.cu:2:{source.splitlines()[1].index('yy') + 1}: error")
    # Two characters of the line are two places wide.
    assert caret.index("^") == line.index("yy") + 2
