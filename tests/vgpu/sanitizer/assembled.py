"""Kernels in PTX, a few instructions each, run sanitised."""

from __future__ import annotations

import struct
from typing import NamedTuple

import numpy as np

from flashpath.gpus.shape import LaunchShape
from flashpath.vgpu.device import HostArray, VirtualModule
from flashpath.vgpu.findings import Finding
from flashpath.vgpu.launch import Launch, Packed
from flashpath.vgpu.options import Options

MODULE = """.version 8.8
.target sm_90
.address_size 64
.file 1 "kernel.py"
.visible .entry k(.param .u64 array) {{
    .reg .pred %p<8>;
    .reg .b16 %h<8>;
    .reg .b32 %r<16>;
    .reg .b64 %d<16>;
    .shared .align 16 .b8 s[4096];
    .shared .align 8 .b64 barrier;
    ld.param.u64 %d0, [array];
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, %ctaid.x;
    cvt.u64.u32 %d1, %r0;
    mov.u32 %r2, s;
    mad.lo.u32 %r3, %r0, 4, %r2;
{body}
    ret;
}}
"""


class Run(NamedTuple):
    findings: list[Finding]
    array: np.ndarray[tuple[int], np.dtype[np.uint32]]

    @property
    def kinds(self) -> list[str]:
        return sorted(finding.kind for finding in self.findings)


def sanitized(
    body: str, *, block: int = 64, grid: int = 1, initialised: bool = True, words: int = 4096, seed: int = 0
) -> Run:
    kernel = VirtualModule(MODULE.format(body=body)).kernel("k")
    array = np.zeros(words, np.uint32)
    first = array.ctypes.data
    last = first + array.nbytes
    host = HostArray(0, first, first, last, first, last, writable=True, initialised=initialised)
    options = Options(sanitize=True, budget=1_000_000, seed=seed)
    shape = LaunchShape((grid, 1, 1), (block, 1, 1))
    launched = Launch(kernel, shape, Packed(struct.pack("<Q", first), [host])).run(options)
    return Run(launched.findings, array)


def only(name: str, condition: str, code: str) -> str:
    """Code for the threads that a comparison of %r0, or of the block %r1, holds for."""
    return f"setp.{condition}; @!%p0 bra {name};\n{code}\n{name}:\n"


def thread(number: int, code: str) -> str:
    return only(f"thread{number}_{abs(hash(code)) % 10**8}", f"eq.u32 %p0, %r0, {number}", code)


WRITE = "st.shared.u32 [s], 7;"
OTHER = "st.shared.u32 [s], 8;"
READ = "ld.shared.u32 %r9, [s];"
