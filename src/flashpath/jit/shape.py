"""The shape of a launch: grid, block, shared memory, cluster."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

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
