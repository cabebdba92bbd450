"""Triton's distributed layouts, as its compiler writes them in TTGIR: which thread holds which element.

    #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>

Each kind deals a tensor out by the same three steps: what a thread holds side by side, how the lanes of a
warp stand next to each other, how the warps do. Where the tensor is larger, the threads begin again; where it
is smaller, several hold the same element.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from flashpath.layout.layout import Layout
from flashpath.layout.thread_value import ThreadValue

_ALIAS = re.compile(r"^#(\w+) = (#ttg?\.\w+<.*>)$", re.MULTILINE)
_TENSOR = re.compile(r"tensor<((?:\d+x)+)([^<>,]*(?:<[^<>]*>)?), (#(?:[^<>]|<[^<>]*>)+)>")
_POINTER = re.compile(r"^!tt\.ptr<(.*)>$")
_LISTS = re.compile(r"(\w+) = \[([\d, ]*)\]")
_MEMORY = ("tt.load", "tt.store", "tt.atomic", "ttg.async_copy_global_to_local")
_SLICE = re.compile(r"#ttg\.slice<\{dim = (\d), parent = (#.+)\}>")

Level = Literal["value", "lane", "warp"]


@dataclass(frozen=True)
class _Step:
    """So many neighbours at a level, and the dimension of the tensor that they follow each other in."""

    level: Level
    dimension: int
    extent: int


@dataclass(frozen=True)
class TensorLayout:
    """A layout of TTGIR, and a tensor dealt out by it: the largest that meets memory, else the largest."""

    name: str
    """`#blocked`, or the whole attribute where it has no name."""
    attribute: str
    shape: tuple[int, ...]
    element: str
    """The type of an element, `f16`; of pointers, of what they point to."""
    meets_memory: bool
    held: ThreadValue | None
    """None for a kind that is not drawn: operands of tensor cores, more than two dimensions."""


def tensor_layouts(ttgir: str) -> list[TensorLayout]:
    """Returns the layouts of a kernel's tensors, in the order in which they first stand there."""
    aliases = {f"#{name}": attribute for name, attribute in _ALIAS.findall(ttgir)}
    chosen: dict[str, tuple[bool, int, tuple[int, ...], str]] = {}
    for line in ttgir.splitlines():
        memory = any(f" {operation}" in line or line.strip().startswith(operation) for operation in _MEMORY)
        for extents, element, name in _TENSOR.findall(line):
            shape = tuple(int(each) for each in extents[:-1].split("x"))
            size = math.prod(shape)
            if name not in chosen or (memory, size) > chosen[name][:2]:
                chosen[name] = memory, size, shape, _POINTER.sub(r"\1", element)
    return [
        TensorLayout(name, aliases.get(name, name), shape, element, memory, held(name, shape, aliases))
        for name, (memory, _, shape, element) in chosen.items()
    ]


def held(name: str, shape: Sequence[int], aliases: dict[str, str] | None = None) -> ThreadValue | None:
    """Returns who holds what of a tensor of one or two dimensions; a vector is one row. None: not known."""
    attribute = (aliases or {}).get(name, name)
    extents = list(shape)
    dropped: int | None = None
    if match := _SLICE.match(attribute):
        # A slice is its parent, looked at along one dimension.
        dropped = int(match[1])
        attribute = (aliases or {}).get(match[2], match[2])
        extents.insert(dropped, 1)
    if len(extents) > 2:
        return None
    steps = _steps(attribute)
    if steps is None:
        return None
    if len(extents) == 1:  # as a row
        return _dealt([_Step(each.level, 1, each.extent) for each in steps], [1, extents[0]], [1, 0])
    dealt = _dealt(steps, extents, _order(attribute))
    if dropped == 1:  # a column, shown as a row
        return ThreadValue(dealt.layout, (1, extents[0]))
    return dealt


# ---- The kinds of layouts ------------------------------------------------------------------------------


def _lists(attribute: str) -> dict[str, list[int]]:
    return {
        name: [int(each) for each in text.split(",") if each.strip()]
        for name, text in _LISTS.findall(attribute)
    }


def _order(attribute: str) -> list[int]:
    return _lists(attribute).get("order", [1, 0])


def _steps(attribute: str) -> list[_Step] | None:
    numbers = _lists(attribute)
    if attribute.startswith("#ttg.blocked<"):
        return list(_blocked(numbers))
    if attribute.startswith("#ttg.nvidia_mma<"):
        return list(_accumulators(numbers, is_hopper="versionMajor = 3" in attribute))
    return None


def _blocked(numbers: dict[str, list[int]]) -> Iterator[_Step]:
    levels: tuple[tuple[Level, str], ...] = (
        ("value", "sizePerThread"),
        ("lane", "threadsPerWarp"),
        ("warp", "warpsPerCTA"),
    )
    for level, name in levels:
        for dimension in numbers["order"]:  # the first is the fastest
            yield _Step(level, dimension, numbers[name][dimension])


def _accumulators(numbers: dict[str, list[int]], is_hopper: bool) -> Iterator[_Step]:
    """Sums of tensor cores: two neighbours of a row to a thread, four threads a row, eight rows, again."""
    columns = numbers["instrShape"][1]
    yield _Step("value", 1, 2)
    yield _Step("lane", 1, 4)
    yield _Step("lane", 0, 8)
    yield _Step("value", 0, 2)
    yield _Step("value", 1, columns // 8)
    for dimension in (0, 1) if is_hopper else (1, 0):
        yield _Step("warp", dimension, numbers["warpsPerCTA"][dimension])


# ---- Dealing out ---------------------------------------------------------------------------------------


def _dealt(steps: Iterable[_Step], shape: Sequence[int], order: Sequence[int]) -> ThreadValue:
    """Puts steps one after the other along each dimension, until the tensor ends."""
    done = [1, 1]  # how many rows and columns the steps so far cover
    apart = [1, shape[0]]  # the distance of neighbours, elements counted down the columns
    modes: dict[Level, list[tuple[int, int]]] = {"value": [], "lane": [], "warp": []}
    for step in steps:
        left = shape[step.dimension] // done[step.dimension]
        extent = max(1, min(step.extent, left))
        modes[step.level].append((extent, done[step.dimension] * apart[step.dimension]))
        if step.extent > extent:  # several hold the same
            modes[step.level].append((step.extent // extent, 0))
        done[step.dimension] *= extent
    for dimension in order:  # the threads begin again
        modes["value"].append((shape[dimension] // done[dimension], done[dimension] * apart[dimension]))
    threads, values = modes["lane"] + modes["warp"], [mode for mode in modes["value"] if mode[1] != 0]
    return ThreadValue(_layout(threads, values), (shape[0], shape[1]))


def _layout(*parts: list[tuple[int, int]]) -> Layout:
    kept = [[mode for mode in part if mode[0] > 1] or [(1, 0)] for part in parts]
    return Layout(
        tuple(tuple(extent for extent, _ in part) for part in kept),
        tuple(tuple(stride for _, stride in part) for part in kept),
    )
