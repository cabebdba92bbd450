"""Source → PTX and cubin → a loaded kernel; with a content-addressed cache."""

from __future__ import annotations

from flashpath.jit.arguments import ArgumentError, strided
from flashpath.jit.bit_exactness import BitExactness, bit_exactness
from flashpath.jit.cache import KernelCache
from flashpath.jit.compiler import compile
from flashpath.jit.device import CudaError
from flashpath.jit.diagnostics import CompileError, Diagnostic, MissingInclude
from flashpath.jit.explain import Explanation, explain
from flashpath.jit.module import Kernel, Module
from flashpath.jit.names import KernelNotFound
from flashpath.jit.sanitize import sanitize
from flashpath.jit.shape import LaunchError
from flashpath.jit.source import SourceNotFound, TemplateError
from flashpath.jit.toolkit import MissingCompiler
from flashpath.jit.virtual import profile

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
    "bit_exactness",
    "compile",
    "explain",
    "profile",
    "sanitize",
    "strided",
]
