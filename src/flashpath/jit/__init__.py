"""Source → PTX and cubin → a loaded kernel; whole programs too; with a content-addressed cache."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from flashpath.gpus.shape import LaunchError
    from flashpath.jit.arguments import ArgumentError, strided
    from flashpath.jit.cache import KernelCache
    from flashpath.jit.compiler import compile
    from flashpath.jit.device import CudaError
    from flashpath.jit.diagnostics import CompileError, Diagnostic, MissingInclude
    from flashpath.jit.exactness import BitExactness, bit_exactness
    from flashpath.jit.explanation import Explanation, explain
    from flashpath.jit.module import Kernel, Module
    from flashpath.jit.names import KernelNotFound
    from flashpath.jit.sanitizing import sanitize
    from flashpath.jit.source import SourceNotFound, TemplateError
    from flashpath.jit.tensor_map import TensorMap
    from flashpath.jit.toolkit import MissingCompiler
    from flashpath.jit.virtual import profile
    from flashpath.jit.watching import watch

# Loaded when first asked for: a program from the cache is to start without NumPy and what stands on it.
# No module here has the name of something public: importing it would hide that.
_HOME = {
    "ArgumentError": "arguments",
    "BitExactness": "exactness",
    "CompileError": "diagnostics",
    "CudaError": "device",
    "Diagnostic": "diagnostics",
    "Explanation": "explanation",
    "Kernel": "module",
    "KernelCache": "cache",
    "KernelNotFound": "names",
    "LaunchError": "launcher",
    "MissingCompiler": "toolkit",
    "MissingInclude": "diagnostics",
    "Module": "module",
    "SourceNotFound": "source",
    "TemplateError": "source",
    "TensorMap": "tensor_map",
    "bit_exactness": "exactness",
    "compile": "compiler",
    "explain": "explanation",
    "profile": "virtual",
    "sanitize": "sanitizing",
    "strided": "arguments",
    "watch": "watching",
}

__all__ = [
    "ArgumentError",
    "BitExactness",
    "CompileError",
    "CudaError",
    "Diagnostic",
    "Explanation",
    "Kernel",
    "KernelCache",
    "KernelNotFound",
    "LaunchError",
    "MissingCompiler",
    "MissingInclude",
    "Module",
    "SourceNotFound",
    "TemplateError",
    "TensorMap",
    "bit_exactness",
    "compile",
    "explain",
    "profile",
    "sanitize",
    "strided",
    "watch",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'flashpath.jit' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"flashpath.jit.{_HOME[name]}"), name)
    globals()[name] = value  # found without a call from now on
    return value


def __dir__() -> list[str]:
    return list(__all__)
