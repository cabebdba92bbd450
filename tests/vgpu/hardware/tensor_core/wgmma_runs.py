"""Runs the cases of wgmma on the virtual GPU."""

from __future__ import annotations

import functools

from tensor_core_cases import Array, Case
from wgmma_cases import module_ptx

from flashpath import gpus
from flashpath.gpus.shape import LaunchShape
from flashpath.vgpu.device import HostArray, VirtualModule
from flashpath.vgpu.launch import Launch, Packed


@functools.cache
def _module() -> VirtualModule:
    return VirtualModule(module_ptx())


def run_on_the_virtual_gpu(case: Case, registers: Array, factors: Array) -> Array:
    """Registers of C, and the bytes of A and B, to registers of D."""
    d = registers.copy()
    places = [
        HostArray(8 * k, first, first, first + array.nbytes, first, first + array.nbytes, True)
        for k, array in enumerate((d, factors))
        for first in [array.ctypes.data]
    ]
    shape = LaunchShape((len(d), 1, 1), (128, 1, 1))
    Launch(_module().kernel(case.entry), shape, Packed(bytes(16), places), gpus.gpu("H200")).run()
    return d
