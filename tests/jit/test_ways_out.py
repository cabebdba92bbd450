"""Which kernels are known to end at their last line only."""

from __future__ import annotations

from pathlib import Path

import pytest

import flashpath as fp

BARRIER = "if (i < n) { x[i] = 1; __syncthreads(); }"


def known(body: str, before: str = "", head: str = "__global__ void k(int* x, int n) {") -> bool:
    source = f'{before}\nextern "C" {head}\n  int i = threadIdx.x;\n  {body}\n}}\n'
    return fp.compile(source, "sm_80")["k"].virtual.runs_to_end


@pytest.mark.parametrize(
    "body",
    [
        BARRIER,
        "/* return; */ " + BARRIER + " // return",
        'printf("return {\\n"); ' + BARRIER,
        "x[i] = '}' + 1'000; " + BARRIER,
        "for (int k = 0; k < n; k++) { if (x[k] == i) break; __syncthreads(); }",
        "switch (n) { case 1: x[i] = 2; break; default: __syncthreads(); }",
        'asm volatile("bar.sync 0;"); x[i] = 1;',
    ],
)
def test_no_way_out(body: str) -> None:
    assert known(body)


@pytest.mark.parametrize(
    "body",
    [
        "if (i >= n) return; x[i] = 1; __syncthreads();",
        "if (i >= n) { x[i] = 2; return; } __syncthreads();",
        "if (i >= n) goto end; __syncthreads(); end: x[i] = 1;",
        'if (i >= n) asm volatile("exit;"); __syncthreads();',
        "auto f = [&](int k) { return k + 1; }; x[i] = f(i); "
        + BARRIER,  # not told apart from one of the kernel
    ],
)
def test_a_way_out_or_perhaps(body: str) -> None:
    assert not known(body)


def test_macros() -> None:
    guard = "#define GUARD(i, n) if ((i) >= (n)) \\\n    return"
    assert not known("GUARD(i, n); __syncthreads();", guard)
    assert not known(BARRIER, "#define KERNEL_LEAVES return")  # perhaps by another macro
    assert known("x[i] = LEAST(i, n); " + BARRIER, "#define LEAST(a, b) ((a) < (b) ? (a) : (b))")
    assert known("x[i] = TILE; " + BARRIER, "#define TILE 4")


def test_macros_of_a_header_may_leave(tmp_path: Path) -> None:
    (tmp_path / "guard.h").write_text("#define GUARD(i, n) if ((i) >= (n)) return\n")
    source = '#include "guard.h"\nextern "C" __global__ void k(int n) {\n  GUARD(threadIdx.x, n);\n}\n'
    assert not fp.compile(source, "sm_80", includes=[tmp_path])["k"].virtual.runs_to_end
    (tmp_path / "guard.h").write_text("#define GUARD if (threadIdx.x >= n) return\n")
    alone = source.replace("GUARD(threadIdx.x, n)", "GUARD")
    assert not fp.compile(alone, "sm_80", includes=[tmp_path])["k"].virtual.runs_to_end


def test_kernels_whose_text_is_elsewhere() -> None:
    macro = '#define MAKE(name) extern "C" __global__ void name(int* x) { if (x[1]) __syncthreads(); }'
    module = fp.compile(
        f'{macro}\nMAKE(k)\n\nextern "C" __global__ void l(int* x) {{\n  x[0] = 1;\n}}\n', "sm_80"
    )
    assert not module["k"].virtual.runs_to_end
    assert module["l"].virtual.runs_to_end


def test_heads_of_several_lines_and_templates() -> None:
    assert known(BARRIER, head="__global__ void\n__launch_bounds__(128)\nk(int* x,\n  int n)\n{")
    module = fp.compile(
        "template <int N>\n__global__ void k(int* x, int n) {\n  int i = threadIdx.x;\n  if (i < n) {\n"
        "    x[i] = N;\n    __syncthreads();\n  }\n}\n",
        "sm_80",
        name_expressions=["k<3>"],
    )
    assert module["k<3>"].virtual.runs_to_end
