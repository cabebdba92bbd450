"""The shape of a launch: grid, block, shared memory, cluster."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, SupportsIndex

from flashpath.errors import FlashpathError

Dim3 = tuple[int, int, int]
Dim = int | Sequence[int]

# The largest extents of a grid and of a block: alike on all GPUs that CUDA 13 knows.
MAX_GRID: Dim3 = (2**31 - 1, 65535, 65535)
MAX_BLOCK: Dim3 = (1024, 1024, 64)


class LaunchError(FlashpathError):
    """The shape of a launch is not possible. Nothing has run."""


@dataclass(frozen=True)
class LaunchShape:
    """The shape of a launch: everything between the triple angle brackets, and the attributes beside them."""

    grid: Dim3
    block: Dim3
    shared: int = 0
    cluster: Dim3 | None = None
    cooperative: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to launch: CUDA has no empty grid."""
        return 0 in self.grid

    def show(self, kernel: str, where: str, arguments: str) -> None:
        """Prints a launch of this shape, for FLASHPATH_DEBUG."""
        extras = f" cluster={self.cluster}" if self.cluster else ""
        extras += " cooperative" if self.cooperative else ""
        brackets = f"<<<{self.grid}, {self.block}, {self.shared} B, {where}>>>"
        print(f"[flashpath] {kernel} {brackets}{extras} ({arguments})", file=sys.stderr)


def dim3(value: Dim, what: str) -> Dim3:
    """(x,), (x, y), (x, y, z) or a bare x, as CUDA's dim3."""
    parts: tuple[Any, ...] = tuple(value) if isinstance(value, Iterable) else (value,)
    if not 1 <= len(parts) <= 3 or not all(hasattr(part, "__index__") for part in parts):
        raise LaunchError("gpus.not-dimensions", what=what, value=repr(value))
    whole = [int(part) for part in parts]
    if any(part < 1 for part in whole):
        raise LaunchError("gpus.empty-dimension", what=what, value=str(tuple(whole)))
    x, y, z = (*whole, 1, 1)[:3]
    return x, y, z


def shared_bytes(value: object) -> int:
    """Dynamic shared memory, as it was asked for."""
    if not isinstance(value, SupportsIndex) or value.__index__() < 0:
        raise LaunchError("gpus.shared-bytes", value=repr(value))
    return value.__index__()


class Limits(Protocol):
    """The limits that a device sets to a launch."""

    @property
    def name(self) -> str: ...
    @property
    def max_grid(self) -> Dim3: ...
    @property
    def max_block(self) -> Dim3: ...
    @property
    def max_threads_per_block(self) -> int: ...
    @property
    def max_shared_per_block(self) -> int: ...


def check_shape(
    shape: LaunchShape, limits: Limits, kernel: str, max_threads: int, static_shared: int
) -> None:
    """Refuse a launch that the device, or the kernel as it was compiled, cannot do."""
    gpu = limits.name
    for axis, size, most in zip("xyz", shape.grid, limits.max_grid, strict=True):
        if size > most:
            raise LaunchError("gpus.grid-too-large", axis=axis, size=size, gpu=gpu, most=most)
    for axis, size, most in zip("xyz", shape.block, limits.max_block, strict=True):
        if size > most:
            raise LaunchError("gpus.block-too-large", axis=axis, size=size, gpu=gpu, most=most)
    block, threads = str(shape.block), math.prod(shape.block)
    if threads > limits.max_threads_per_block:
        most = limits.max_threads_per_block
        raise LaunchError("gpus.too-many-threads-of-block", block=block, threads=threads, most=most)
    if threads > max_threads:
        raise LaunchError(
            "gpus.too-many-threads-of-kernel", block=block, threads=threads, kernel=kernel, most=max_threads
        )
    if shape.shared + static_shared > limits.max_shared_per_block:
        raise LaunchError(
            "gpus.too-much-shared-of-kernel",
            kernel=kernel,
            dynamic=shape.shared,
            static=static_shared,
            gpu=gpu,
            most=limits.max_shared_per_block,
        )
    if shape.cluster is not None and any(
        blocks % size for blocks, size in zip(shape.grid, shape.cluster, strict=True)
    ):
        raise LaunchError("gpus.no-multiple-of-cluster", grid=str(shape.grid), cluster=str(shape.cluster))
