"""fp.explain: registers, memory, spills, occupancy and machine code, as the compilers tell them."""

from __future__ import annotations

import pytest

import flashpath as fp
from flashpath import gpus
from flashpath.jit import KernelCache, toolkit
from flashpath.jit.resources import Resources, read_resources
from flashpath.jit.stages import occupancy_line, ptx_instructions, sass_instructions
from flashpath.vgpu import cubin

SOURCE = """
extern "C" __global__ void __launch_bounds__(128) shared(float* p) {
  __shared__ float tile[1024];
  tile[threadIdx.x] = p[threadIdx.x];
  __syncthreads();
  p[threadIdx.x] = tile[127 - threadIdx.x];
}
extern "C" __global__ void local(int* p, int n) {
  int table[64];
  for (int i = 0; i < 64; ++i) table[(i * n) & 63] = p[i];
  p[0] = table[n & 63];
}
extern "C" __global__ void heavy(const float* p, float* out) {
  float v[96];
  #pragma unroll
  for (int i = 0; i < 96; ++i) v[i] = p[i * 1000 + threadIdx.x];
  __syncthreads();
  float s = 0;
  #pragma unroll
  for (int i = 0; i < 96; ++i) s += v[i] * v[95 - i] * p[i];
  __syncthreads();
  #pragma unroll
  for (int i = 0; i < 96; ++i) out[i * 1000 + threadIdx.x] = v[i] * s;
}
"""


def test_what_a_kernel_uses(cache: KernelCache) -> None:
    module = fp.compile(SOURCE, "sm_80", cache=cache)
    shared, local, heavy = (module[name].resources for name in ("shared", "local", "heavy"))
    assert (shared.static_shared, shared.local_memory, shared.spill_stores, shared.barriers) == (
        4096,
        0,
        0,
        1,
    )
    assert (local.static_shared, local.local_memory, local.spill_stores) == (0, 256, 0)
    assert heavy.registers > 96
    assert (heavy.spill_stores, heavy.spill_loads) == (0, 0)


def test_fewer_registers_make_spills(cache: KernelCache) -> None:
    module = fp.compile(SOURCE, "sm_80", options=["-maxrregcount=32"], cache=cache)
    heavy = module["heavy"].resources
    assert heavy.registers <= 32
    assert heavy.spill_stores > 0
    assert heavy.spill_loads > 0
    assert heavy.local_memory > 0
    text = str(fp.explain(module["heavy"]))
    assert f"  spills                 {heavy.spill_stores} B stored, {heavy.spill_loads} B loaded" in text


def test_the_whole_text(cache: KernelCache, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolkit, "disassembler", lambda: None)
    kernel = fp.compile(SOURCE, "sm_80", cache=cache)["shared"]
    found = fp.explain(kernel, shared=1024)
    assert found.sass is None
    assert found.threads_per_block == 128  # from __launch_bounds__
    assert (found.source, found.ptx, found.gpu) == (SOURCE, kernel.ptx, gpus.gpu("A100"))
    registers = kernel.resources.registers
    assert str(found) == (
        "shared(float*), compiled for sm_80 from source.cu\n"
        f"  registers per thread   {registers}\n"
        "  shared memory          4096 B static + 1024 B dynamic\n"
        "  local memory           0 B per thread\n"
        "  spills                 0 B stored, 0 B loaded\n"
        f"  PTX                    {ptx_instructions(kernel.ptx)} instructions\n"
        "  SASS                   no disassembler was found\n"
        f"  occupancy on A100      {occupancy_line(found.occupancy, found.threads_per_block)}\n"
        "  bit-exact on A100      yes"
    )
    assert found.occupancy == gpus.occupancy(gpus.gpu("A100"), 128, registers, 5120)
    assert (
        occupancy_line(found.occupancy, 128)
        == "100%: 16 blocks of 128 threads, 64 of 64 warps (limited by warps)"
    )


def test_block_and_gpu_can_be_chosen(cache: KernelCache) -> None:
    kernel = fp.compile(SOURCE, "sm_80", cache=cache)["local"]
    assert fp.explain(kernel).threads_per_block == 256
    found = fp.explain(kernel, block=(32, 4), gpu="H200")
    assert (found.threads_per_block, found.gpu) == (128, gpus.gpu("H200"))
    assert fp.explain(kernel, gpu=gpus.gpu("H100")).gpu is gpus.gpu("H100")
    too_large = fp.explain(kernel, block=(1024, 2))
    assert occupancy_line(too_large.occupancy, 2048).startswith("no block fits: ")
    with pytest.raises(fp.FlashpathError, match=r"block is \(0,\)"):
        fp.explain(kernel, block=0)


def test_machine_code(cache: KernelCache) -> None:
    if toolkit.disassembler() is None:
        pytest.skip("no cuobjdump, neither in a toolkit nor in the triton wheel")
    module = fp.compile(SOURCE, "sm_80", cache=cache)
    sass = fp.explain(module["shared"]).sass
    assert sass is not None
    assert "Function : shared" in sass
    assert "Function : local" not in sass
    for opcode in ("LDG", "STS", "BAR.SYNC", "LDS", "STG", "EXIT"):
        assert opcode in sass
    assert "/* 0x" not in sass
    assert 10 < sass_instructions(sass) < 200
    assert f"  SASS                   {sass_instructions(sass)} instructions" in str(
        fp.explain(module["shared"])
    )


def test_a_disassembler_that_fails_is_as_good_as_none(
    cache: KernelCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pathlib import Path

    monkeypatch.setattr(toolkit, "disassembler", lambda: Path("/bin/false"))
    assert fp.explain(fp.compile(SOURCE, "sm_80", cache=cache)["local"]).sass is None


def test_ptx_instructions_are_counted_and_directives_are_not() -> None:
    text = (
        ".visible .entry k(\n\t.param .u64 k_param_0\n)\n{\n\t.reg .b32 %r<2>;\n\t.loc 1 1 1\n"
        "\tld.param.u64 %rd1, [k_param_0];\n$L__BB0_1:\n\t// a comment;\n\t@%p1 bra $L__BB0_1;\n\tret;\n}"
    )
    assert ptx_instructions(text) == 3


def test_the_log_of_ptxas_is_read_per_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    log = (
        "ptxas info    : 16 bytes gmem\n"
        "ptxas info    : Compiling entry function 'a' for 'sm_80'\n"
        "ptxas info    : Function properties for a\n"
        "    40 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads\n"
        "ptxas info    : Function properties for helper\n"
        "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
        "ptxas info    : Used 42 registers, used 2 barriers, 40 bytes cumulative stack size, "
        "1024 bytes smem\n"
        "ptxas info    : Compiling entry function '_Z1bv' for 'sm_80'\n"
        "ptxas info    : Function properties for _Z1bv\n"
        "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
        "ptxas info    : Used 4 registers, used 0 barriers, 352 bytes cmem[0]\n"
    )
    registers = {"a": 42, "_Z1bv": 4}  # which the cubin tells

    def of_the_cubin(code: bytes, name: str, shared: int) -> cubin.Resources:
        return cubin.Resources(registers[name], shared, len(code))

    monkeypatch.setattr(cubin, "read_resources", of_the_cubin)
    assert read_resources(b"12345", log) == {
        "a": Resources(42, 1024, 5, 8, 12, 2),
        "_Z1bv": Resources(4, 0, 5, 0, 0, 0),
    }
    assert read_resources(b"", "") == {}
