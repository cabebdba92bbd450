"""Kernels written in PTX itself, for instructions that no compiler emits at will."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

from flashpath.gpus.shape import LaunchShape
from flashpath.vgpu.device import HostArray, VirtualModule
from flashpath.vgpu.launch import Launch, Packed
from flashpath.vgpu.options import Options

Array = np.ndarray[Any, Any]

# Every kernel has its arrays in %array0, %array1 …, its thread in %thread, shared memory at `base`.
_FRAME = """.version 8.8
.target {target}
.address_size 64
.extern .shared .align 16 .b8 base[];
{module}
.visible .entry k({parameters}) {{
    .reg .pred %p<16>;
    .reg .b16 %h<64>;
    .reg .b32 %r<64>;
    .reg .b64 %d<64>;
    .reg .b128 %q<8>;
    .reg .u64 %array<8>;
    .reg .u32 %thread;
    .reg .u64 %wide, %own;
    mov.u32 %thread, %tid.x;
    cvt.u64.u32 %wide, %thread;
{loads}
{body}
    ret;
}}
"""


class Launched(NamedTuple):
    rows: list[list[int]]  # what each instruction counted
    opcodes: list[str]

    def counts(self, opcode: str) -> list[int]:
        """The row of the one instruction that starts like that."""
        [found] = [k for k, text in enumerate(self.opcodes) if text.startswith(opcode)]
        return self.rows[found]


Run = Callable[..., Launched]


@pytest.fixture
def run() -> Run:
    return run_ptx


def run_ptx(
    body: str,
    *arrays: Array,
    block: int = 32,
    grid: int = 1,
    shared: int = 0,
    target: str = "sm_100",
    module: str = "",
    count: bool = False,
    budget: int = 10_000_000,
    threads: int = 1,
) -> Launched:
    """Run the body for every thread; arrays are written to in place."""
    text = _FRAME.format(
        target=target,
        module=module,
        parameters=", ".join(f".param .u64 p{k}" for k in range(len(arrays))),
        loads="\n".join(f"    ld.param.u64 %array{k}, [p{k}];" for k in range(len(arrays))),
        body=body,
    )
    kernel = VirtualModule(text).kernel("k")
    packed = b"".join(struct.pack("<Q", array.ctypes.data) for array in arrays)
    places = [
        HostArray(8 * k, first, first, first + array.nbytes, first, first + array.nbytes, True)
        for k, array in enumerate(arrays)
        for first in [array.ctypes.data]
    ]
    options = Options(count=count, budget=budget, threads=threads)
    shape = LaunchShape((grid, 1, 1), (block, 1, 1), shared)
    result = Launch(kernel, shape, Packed(packed, places)).run(options).result
    return Launched(result.instructions.tolist(), [origin[0] for origin in kernel.program.origins])
