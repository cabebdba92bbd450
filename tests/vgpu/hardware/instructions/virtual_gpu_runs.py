"""Runs single instructions on the virtual GPU."""

from __future__ import annotations

import numpy as np
from special_function_cases import Array, Instruction

from flashpath.gpus.shape import LaunchShape
from flashpath.vgpu.device import HostArray, VirtualKernel
from flashpath.vgpu.launch import Launch, Packed
from flashpath.vgpu.options import Options

_BLOCK = 256


def run(kernel: VirtualKernel, instruction: Instruction, operands: list[Array], *, exact: bool) -> Array:
    """The bits of the results; the kernel is the instruction's of gpu_runs.module_ptx."""
    count = len(operands[0])
    result = np.zeros(count, instruction.result)
    parameters = bytearray(8 * (len(operands) + 2))
    parameters[:4] = count.to_bytes(4, "little")
    arrays: list[HostArray] = []
    for k, array in enumerate([result, *operands], 1):
        first, last = array.ctypes.data, array.ctypes.data + array.nbytes
        arrays.append(HostArray(8 * k, first, first, last, first, last, k == 1))
    blocks = -(-count // _BLOCK)
    shape = LaunchShape((blocks, 1, 1), (_BLOCK, 1, 1))
    Launch(kernel, shape, Packed(bytes(parameters), arrays)).run(Options(exact=exact))
    return result
