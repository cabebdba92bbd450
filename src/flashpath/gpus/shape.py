"""The shape of a launch: grid, block, shared memory, cluster."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, SupportsIndex

from flashpath.errors import FlashpathError

Dim3 = tuple[int, int, int]
Dim = int | Sequence[int]


class LaunchError(FlashpathError):
    """The shape of a launch is not possible. Nothing has run."""


@dataclass(frozen=True)
class Shape:
    """The shape of a launch: everything between the triple angle brackets, and the attributes beside them."""

    grid: Dim3
    block: Dim3
    shared: int = 0
    cluster: Dim3 | None = None
    cooperative: bool = False


def dim3(value: Dim, what: str) -> Dim3:
    """(x,), (x, y), (x, y, z) or a bare x, as CUDA's dim3."""
    parts: tuple[Any, ...] = tuple(value) if isinstance(value, Iterable) else (value,)
    if not 1 <= len(parts) <= 3 or not all(hasattr(part, "__index__") for part in parts):
        raise LaunchError(f"{what} is {value!r}.", f"Give one to three integers: {what}=(x, y, z).")
    whole = [int(part) for part in parts]
    if any(part < 1 for part in whole):
        hint = "Round up: (n + block - 1) // block; for n = 0 there is nothing to launch."
        raise LaunchError(f"{what} is {tuple(whole)}: every dimension must be at least 1.", hint)
    x, y, z = (*whole, 1, 1)[:3]
    return x, y, z


def shared_bytes(value: object) -> int:
    """Dynamic shared memory, as it was asked for."""
    if not isinstance(value, SupportsIndex) or value.__index__() < 0:
        raise LaunchError(f"shared is {value!r}.", "Give the dynamic shared memory in bytes, 0 or more.")
    return value.__index__()


class Limits(Protocol):
    """What a device allows a launch."""

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


def check_shape(shape: Shape, limits: Limits, kernel: str, max_threads: int, static_shared: int) -> None:
    """Refuse a launch that the device, or the kernel as it was compiled, cannot do."""
    for what, got, most in (
        ("grid", shape.grid, limits.max_grid),
        ("block", shape.block, limits.max_block),
    ):
        for axis, size, limit in zip("xyz", got, most, strict=True):
            if size > limit:
                raise LaunchError(
                    f"{what}.{axis} is {size}; {limits.name} allows {limit}.",
                    "Use a grid-stride loop, or another axis." if what == "grid" else "Use smaller blocks.",
                )
    threads = shape.block[0] * shape.block[1] * shape.block[2]
    if threads > limits.max_threads_per_block:
        raise LaunchError(
            f"block {shape.block} has {threads} threads; a block has at most {limits.max_threads_per_block}.",
            "Use smaller blocks and more of them.",
        )
    if threads > max_threads:
        raise LaunchError(
            f"block {shape.block} has {threads} threads; {kernel} was compiled for at most "
            f"{max_threads} (its registers or its __launch_bounds__).",
            "Use smaller blocks, or raise __launch_bounds__; flashpath explain shows its registers.",
        )
    if shape.shared + static_shared > limits.max_shared_per_block:
        raise LaunchError(
            f"{kernel} asks for {shape.shared} bytes of dynamic and {static_shared} of static "
            f"shared memory; a block of {limits.name} has at most {limits.max_shared_per_block}.",
            "Use smaller tiles or fewer stages.",
        )
    if shape.cluster is not None and any(
        blocks % size for blocks, size in zip(shape.grid, shape.cluster, strict=True)
    ):
        raise LaunchError(
            f"grid {shape.grid} is no multiple of cluster {shape.cluster}.", "Round the grid up."
        )
