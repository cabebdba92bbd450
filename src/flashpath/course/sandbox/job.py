"""What is to be built and run, what it may take, and what comes back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from flashpath.vgpu.findings import Finding
from flashpath.vgpu.host_findings import HostFinding

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Limits:
    """What a child may take; what goes over is ended and said."""

    build_seconds: float = 30.0
    """Compiling."""
    import_seconds: float = 5.0
    """Importing a Python file, which does next to nothing: the libraries are loaded before."""
    run_seconds: float = 20.0
    """One launch, or one call."""
    cpu_seconds: float = 120.0
    """Of a whole session."""
    memory_bytes: int = 2 << 30
    """Beyond what the libraries have taken when they are loaded."""
    file_bytes: int = 64 << 20
    """Of each file in the child's own folder, the only one that it can write."""
    folder_bytes: int = 256 << 20
    """Of all files in that folder together."""
    folder_files: int = 2000
    """Of files and folders in it."""
    output_bytes: int = 64 << 10
    """Of what is printed; the rest is dropped."""
    answer_bytes: int = 1 << 30
    """Of the arrays that a function returns."""


@dataclass(frozen=True)
class Parameter:
    """One parameter of a kernel, as the exercise calls it."""

    name: str
    dtype: str  # by NumPy's name, or bfloat16 …
    is_array: bool


@dataclass(frozen=True)
class KernelJob:
    """A learner's file and the kernel in it. `constants` are macros in CUDA, constexpr in Triton."""

    language: Literal["cuda", "triton"]
    source: str
    file_name: str
    kernel: str
    arch: str = "sm_80"
    constants: Mapping[str, int | float | bool | str] = field(default_factory=dict[str, Any])
    num_warps: int = 4  # of Triton
    parameters: tuple[Parameter, ...] = ()

    @property
    def parameter_messages(self) -> list[dict[str, Any]]:
        """The parameters, as a child is told of them."""
        return [
            {"name": each.name, "dtype": each.dtype, "is_array": each.is_array} for each in self.parameters
        ]


@dataclass(frozen=True)
class KernelRun:
    """One launch: what it left in the arrays, and what was seen."""

    arrays: tuple[Array, ...]
    """Those that it could write, in the order of the parameters, as they are after the launch."""
    written: tuple[np.ndarray[Any, np.dtype[np.bool_]], ...]
    """Of the same: whether a store of the kernel reached every byte of the element. Where the launch was not
    sanitised this is not known, and all are False."""
    findings: tuple[Finding, ...]
    counts: Mapping[str, float]
    seconds: float
    printed: str = ""


@dataclass(frozen=True)
class ProgramRun:
    """One run of a whole program: how it ended, what it printed, and what was seen."""

    exit_code: int | None
    """None where a signal ended it."""
    signal: str | None
    """The name of that signal."""
    has_ended: bool
    """Whether it came to its end by `return` or `exit`: then its runtime looks at what it leaves behind."""
    printed: str
    """The first of what it wrote to standard output."""
    complained: str
    """What it, and its runtime, wrote to standard error."""
    findings: tuple[Finding | HostFinding, ...]
    """Of kernels and of host code, in the order in which they came."""
    counts: Mapping[str, float]
    seconds: float
