"""The virtual GPU. Importing it is cheap: the compiled engine, and Triton, are loaded when first needed.

with fp.vgpu.triton():                 # any @triton.jit kernel, unchanged, on CPU tensors
    kernel[grid](x, y, n, BLOCK=1024)
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from flashpath.vgpu.driver_library import driver
    from flashpath.vgpu.triton_driver import TritonGpu, disable_triton, enable_triton, triton

_HOME = {
    "TritonGpu": "triton_driver",
    "disable_triton": "triton_driver",
    "driver": "driver_library",
    "enable_triton": "triton_driver",
    "triton": "triton_driver",
}

__all__ = ["TritonGpu", "disable_triton", "driver", "enable_triton", "triton"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'flashpath.vgpu' has no attribute {name!r}")
    return getattr(importlib.import_module(f"flashpath.vgpu.{_HOME[name]}"), name)
