"""flashpath: learn and build GPU kernels, on a GPU or without one.

import flashpath as fp
module = fp.compile("saxpy.cu")
module["saxpy"][(blocks,), (256,)](n, 2.0, x, y)
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from flashpath.vgpu.host import shield_torch_from_amx

# Before anyone's first matrix product: some hosts advertise AMX and kill the process that uses it.
shield_torch_from_amx()

if TYPE_CHECKING:
    from flashpath import bench, gpus, jit, kernels, layout, nn, ops, vgpu
    from flashpath.errors import FlashpathError, MissingDevice
    from flashpath.jit import Kernel, Module, TensorMap, compile, explain, profile, sanitize, watch
    from flashpath.kernels.attention.score_mod import ScoreMod
    from flashpath.kernels.exporting import export
    from flashpath.nn import patch, unpatch
    from flashpath.ops import (
        attention,
        attention_decode,
        attention_varlen,
        scaled_dot_product_attention,
    )
    from flashpath.vgpu.findings import Finding, KernelFault

__version__ = "0.1.0"

# Loaded when first asked for, so that `import flashpath` stays quick.
_HOME = {
    "Finding": "vgpu.findings",
    "FlashpathError": "errors",
    "Kernel": "jit",
    "KernelFault": "vgpu.findings",
    "MissingDevice": "errors",
    "Module": "jit",
    "ScoreMod": "kernels.attention.score_mod",
    "TensorMap": "jit",
    "attention": "ops",
    "attention_decode": "ops",
    "attention_varlen": "ops",
    "bench": None,
    "compile": "jit",
    "explain": "jit",
    "export": "kernels.exporting",
    "gpus": None,
    "jit": None,
    "kernels": None,
    "layout": None,
    "nn": None,
    "ops": None,
    "patch": "nn",
    "profile": "jit",
    "sanitize": "jit",
    "scaled_dot_product_attention": "ops",
    "unpatch": "nn",
    "vgpu": None,
    "watch": "jit",
}

__all__ = [
    "Finding",
    "FlashpathError",
    "Kernel",
    "KernelFault",
    "MissingDevice",
    "Module",
    "ScoreMod",
    "TensorMap",
    "attention",
    "attention_decode",
    "attention_varlen",
    "bench",
    "compile",
    "explain",
    "export",
    "gpus",
    "jit",
    "kernels",
    "layout",
    "nn",
    "ops",
    "patch",
    "profile",
    "sanitize",
    "scaled_dot_product_attention",
    "unpatch",
    "vgpu",
    "watch",
]


def _loaded(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'flashpath' has no attribute {name!r}")
    home = _HOME[name]
    module = importlib.import_module(f"flashpath.{name if home is None else home}")
    value = globals()[name] = module if home is None else getattr(module, name)
    return value


if not TYPE_CHECKING:  # a type checker knows all names, and takes no others
    __getattr__ = _loaded


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
