"""PTX that is not what it should be is refused by name; nothing is guessed."""

from __future__ import annotations

import re

import numpy as np
import pytest

import flashpath as fp
from flashpath.errors import FlashpathError
from flashpath.gpus.shape import LaunchShape
from flashpath.vgpu.device import UnsupportedInstruction, VirtualModule
from flashpath.vgpu.launch import Launch, Packed

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
REGISTERS = ".reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .pred %p<4>;"


@pytest.mark.parametrize(
    "instruction",
    [
        "st.global.uni [%rd1], %r1;",
        "st.global.s [%rd1], %r1;",
        "st.global [%rd1], %r1;",
        "ld.global.s33 %r1, [%rd1];",
        "ld.param.uni %r1, [p];",
        "mov.uni %r1, %r2;",
        "selp.uni %r1, %r2, %r3, %p1;",
        "and.b33 %r1, %r2, %r3;",
        "shfl.sync.idx.b33 %r1, %r2, %r3, 31, -1;",
        "add.rz.rn.f32 %f1, %f2, %f3;",
        "membar.foo;",
        "fence.blah.gpu;",
        "prefetch.bogus [%rd1];",
        "cvt.uni.u32 %rd1, %r1;",
        "cvt.u64.uni %rd1, %r1;",
        "cvt.sat.u32 %r1, %r2;",
        "cvt.s.u32 %r1, %r2;",
        "cvt.rn.f32.uni %f1, %r2;",
        "mul.lo.s32.bar %r1, %r2, %r3;",
        "add.s32 %r1, %r2;",
        "add.f32 %f1, %f2, %f3, %f4;",
        "max.s32 %r1, %r2;",
        "fma.rn.f32 %f1, %f2, %f3;",
        "ex2.approx.f32 %f1;",
        "mov.u32 %r1;",
    ],
)
def test_no_form_is_guessed(instruction: str) -> None:
    module = VirtualModule(f"{HEAD}.visible .entry k(.param .u64 p) {{ {REGISTERS} {instruction} ret; }}")
    with pytest.raises(UnsupportedInstruction, match="PTX line 4") as caught:
        module.kernel("k")
    assert instruction.split()[0].rstrip(";") in str(caught.value)
    chinese = caught.value.said.text("zh").removeprefix("k，PTX 第 4 行")
    assert re.search("[\u4e00-\u9fff]", chinese)
    assert not re.search(r"[A-Za-z]{2,} [a-z]{2,}", chinese), chinese


def test_a_line_of_a_file_that_is_not_named() -> None:
    kernel = VirtualModule(f"{HEAD}.visible .entry k() {{ .loc 2 5 0\n trap; }}").kernel("k")
    with pytest.raises(fp.KernelFault, match="trap") as caught:
        Launch(kernel, LaunchShape((1, 1, 1), (1, 1, 1)), Packed(b"")).run()
    assert (caught.value.file, caught.value.line) == ("", 0)


def test_variables_larger_than_a_host_gives() -> None:
    with pytest.raises(FlashpathError, match="4294967296 bytes"):
        VirtualModule(f"{HEAD}.global .align 4 .b8 g[4294967296];")


def test_a_fault_says_where_it_was() -> None:
    kernel = fp.compile('extern "C" __global__ void k(int* o) { o[(int)threadIdx.x - 1] = 3; }', "sm_80")["k"]
    with pytest.raises(fp.KernelFault, match="4 bytes before an array of 40") as caught:
        kernel[1, 4](np.zeros(10, np.int32))
    fault = caught.value
    assert (fault.kind, fault.line, fault.block, fault.thread) == ("out-of-bounds", 1, (0, 0, 0), (0, 0, 0))
    assert "4 bytes before" in fault.message


def test_addresses_follow_the_arguments() -> None:
    """Whatever the host has put where, a kernel sees its arrays at the same addresses in every run."""
    kernel = fp.compile(
        'extern "C" __global__ void k(int* a, int* b, size_t* o) { o[0] = (size_t)a; o[1] = (size_t)b; }',
        "sm_80",
    )["k"]
    keep = [np.zeros(n, np.int32) for n in (3000, 10, 70, 400_000)]
    out = np.zeros(2, np.uint64)
    seen: set[tuple[int, int]] = set()
    for first, second in [(0, 1), (1, 0), (2, 3), (3, 2)]:
        kernel[1, 1](keep[first], keep[second], out)
        seen.add((int(out[0]) >> 32, int(out[1]) >> 32))
    assert len(seen) == 1
