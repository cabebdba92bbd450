"""The verdict whether a kernel's results have the bits of a GPU, and the reasons against it."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

import flashpath as fp
from flashpath import gpus
from flashpath.jit import bit_exactness, toolkit
from flashpath.jit.exactness import verdict
from flashpath.vgpu.device import VirtualModule

SOURCE = """
extern "C" __global__ void saxpy(float a, const float* x, float* y) {
  y[threadIdx.x] = a * x[threadIdx.x] + y[threadIdx.x];
}
extern "C" __global__ void add(const float* x, float* y) { y[threadIdx.x] += x[threadIdx.x]; }
extern "C" __global__ void fused_here_and_there(const float* x, float* y) {
  float p, s;
  asm("mul.f32 %0, %1, %2;" : "=f"(p) : "f"(x[0]), "f"(x[1]));
  asm("add.f32 %0, %1, %2;" : "=f"(s) : "f"(p), "f"(x[2]));
  y[0] = s / x[3];
}
extern "C" __global__ void atomics(float* y) { atomicAdd(y, 1.5f); }
extern "C" __global__ void whole_atomics(int* y) { atomicAdd(y, 2); }
extern "C" __global__ void sine(float* y) { y[0] = __sinf(y[0]); }
extern "C" __global__ void time(long long* y) { y[0] = clock64(); }
extern "C" __global__ void tensor(const unsigned* x, float* y) {
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
               "{%0,%1,%2,%3}, {%4,%4,%4,%4}, {%5,%5}, {%0,%1,%2,%3};"
               : "+f"(y[0]), "+f"(y[1]), "+f"(y[2]), "+f"(y[3]) : "r"(x[0]), "r"(x[1]));
}
"""


@pytest.fixture(scope="module")
def module() -> fp.jit.Module:
    return fp.compile(SOURCE, "sm_80")


needs_disassembler = pytest.mark.skipif(
    toolkit.line_disassembler() is None, reason="no disassembler is on this machine"
)


@needs_disassembler
@pytest.mark.parametrize("name", ["saxpy", "add", "fused_here_and_there", "whole_atomics", "sine", "tensor"])
def test_bits_of_the_verified_gpu(module: fp.jit.Module, name: str) -> None:
    found = bit_exactness(module[name], "H200")
    assert found.reasons == ()
    assert found.exact
    assert str(found) == "yes"


@needs_disassembler
def test_a_sum_that_ptxas_fuses_and_the_virtual_gpu_does_not() -> None:
    # ptxas unrolls the loop, which then stands no longer between the product and its sum.
    text = """.version 8.0
    .target sm_80
    .address_size 64
    .visible .entry k(.param .u64 p) {
      .reg .b64 %p; .reg .f32 %a, %b, %c; .reg .b32 %i; .reg .pred %q;
      ld.param.u64 %p, [p]; ld.global.f32 %a, [%p]; ld.global.f32 %b, [%p + 4]; ld.global.f32 %c, [%p + 8];
      mul.f32 %a, %a, %b; mov.u32 %i, 0;
    LOOP: add.f32 %c, %c, %b; add.u32 %i, %i, 1; setp.lt.u32 %q, %i, 4; @%q bra LOOP;
      add.f32 %a, %a, %c; st.global.f32 [%p], %a; ret;
    }
    """
    program = VirtualModule(text).kernel("k").program
    found = verdict(program, "k", text, gpus.gpu("H200"), None)
    assert list(map(str, found.reasons)) == ["ptxas makes 1 FFMA and 4 FADD, the virtual GPU 0 and 2"]
    assert not found.exact


@pytest.mark.parametrize(
    ("name", "device", "reason"),
    [
        ("atomics", "H200", "the order of its atomic sums is not that of H200"),
        ("time", "H200", "it reads a clock"),
        ("sine", "A100", "its special functions were measured on H200 only (sin.approx"),
        ("tensor", "A100", "the tensor cores of A100 are modelled, those of H200 verified (mma.sync"),
    ],
)
def test_reasons(module: fp.jit.Module, name: str, device: str, reason: str) -> None:
    (found,) = bit_exactness(module[name], device).reasons
    assert str(found).startswith(reason)


def test_without_a_disassembler_it_is_not_known_what_ptxas_fuses(
    module: fp.jit.Module, monkeypatch: pytest.MonkeyPatch
) -> None:
    code: Any = importlib.import_module("flashpath.jit.machine_code")
    code.listing_with_lines.cache_clear()
    monkeypatch.setattr(toolkit, "line_disassembler", lambda: None)
    (reason,) = bit_exactness(module["fused_here_and_there"], "H200").reasons
    assert "no disassembler was found" in str(reason)
    assert bit_exactness(module["add"], "H200").exact  # nothing that could be fused
    code.listing_with_lines.cache_clear()


def test_explain_says_it_in_one_line(module: fp.jit.Module) -> None:
    lines = str(fp.explain(module["tensor"])).splitlines()
    (line,) = [line for line in lines if "bit-exact on A100" in line]
    assert "not certain: the tensor cores of A100 are modelled" in line


def test_explain_of_what_the_virtual_gpu_does_not_run() -> None:
    source = """extern "C" __global__ void k(int* x) {
        asm volatile("multimem.red.relaxed.sys.global.add.u32 [%0], 1;" :: "l"(x));
        x[0] = 1;
    }"""
    explained = fp.explain(fp.compile(source, "sm_90a")["k"])
    assert explained.bit_exactness is not None
    assert "the virtual GPU does not run it" in str(explained)


@pytest.mark.parametrize("thing", ["x", None, 3])
def test_what_is_no_kernel(thing: Any) -> None:
    with pytest.raises(TypeError, match="which is no kernel") as error:
        bit_exactness(thing)
    assert "module['name']" in str(error.value)
