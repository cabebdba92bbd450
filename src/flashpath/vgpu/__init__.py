"""The virtual GPU. Importing it is cheap: the compiled engine, and Triton, are loaded when first needed.

with fp.vgpu.triton():                 # any @triton.jit kernel, unchanged, on CPU tensors
    kernel[grid](x, y, n, BLOCK=1024)
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from flashpath.vgpu.triton_driver import TritonGpu, disable_triton, enable_triton, triton

__all__ = ["TritonGpu", "disable_triton", "enable_triton", "triton"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'flashpath.vgpu' has no attribute {name!r}")
    return getattr(importlib.import_module("flashpath.vgpu.triton_driver"), name)
