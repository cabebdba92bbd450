"""Swizzles: bits of an index that are flipped by other bits of it, and layouts under a swizzle."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar, cast

from flashpath.layout.int_tuple import IntTuple
from flashpath.layout.layout import Layout, LayoutError

_MOST_BITS = 64  # of an index


@dataclass(frozen=True)
class Swizzle:
    """`Swizzle(bits, base, shift)` flips `bits` bits of an index, from bit `base` on.

    Each is flipped where the bit `shift` places above it is set (below it, for a negative shift). The lowest
    `base` bits stay, so that 2**base neighbours stay neighbours. A swizzle is its own inverse.
    """

    bits: int
    base: int
    shift: int

    def __post_init__(self) -> None:
        most = max(self.bits, self.base, abs(self.shift))
        if self.bits < 0 or self.base < 0 or abs(self.shift) < self.bits or most > _MOST_BITS:
            raise LayoutError("layout.impossible-swizzle", bits=self.bits, base=self.base, shift=self.shift)

    def __call__(self, index: int) -> int:
        """Returns the index with its bits flipped."""
        mask = (1 << self.bits) - 1 << self.base + max(0, self.shift)
        source = index & mask
        return index ^ (source >> self.shift if self.shift >= 0 else source << -self.shift)

    def __str__(self) -> str:
        return f"Sw<{self.bits},{self.base},{self.shift}>"


@dataclass(frozen=True)
class ComposedLayout:
    """A layout whose indices, moved by an offset, go through a swizzle: `Sw<3,3,3> o 0 o (8,64):(64,1)`."""

    swizzle: Swizzle
    offset: int
    inner: Layout

    @property
    def shape(self) -> IntTuple:
        """The shape of the layout under the swizzle."""
        return self.inner.shape

    @property
    def rank(self) -> int:
        """The number of modes."""
        return self.inner.rank

    @property
    def size(self) -> int:
        """The number of coordinates."""
        return self.inner.size

    @property
    def cosize(self) -> int:
        """One more than the largest index, after the swizzle."""
        return max(self.indices()) + 1

    def __getitem__(self, mode: int) -> ComposedLayout:
        return self.over(self.inner[mode])

    def __iter__(self) -> Iterator[ComposedLayout]:
        return map(self.over, self.inner)

    def __call__(self, *coordinate: IntTuple) -> int:
        """Returns the index of a coordinate."""
        return self.swizzle(self.offset + self.inner(*coordinate))

    def coordinate(self, number: int) -> IntTuple:
        """Returns the nested coordinate that a single number stands for."""
        return self.inner.coordinate(number)

    def indices(self) -> list[int]:
        """Returns the index of every coordinate, in colexicographical order."""
        return [self.swizzle(self.offset + index) for index in self.inner.indices()]

    def is_injective(self) -> bool:
        """Whether no two coordinates share an index."""
        return self.inner.is_injective()

    def over(self, inner: Layout) -> ComposedLayout:
        """Returns the same swizzle over another layout."""
        return dataclasses.replace(self, inner=inner)

    def __str__(self) -> str:
        return f"{self.swizzle} o {self.offset} o {self.inner}"


AnyLayout = Layout | ComposedLayout
L = TypeVar("L", Layout, ComposedLayout, AnyLayout)


def inside(layout: L, change: Callable[[Layout], Layout]) -> L:
    """Changes a layout, or the one under a swizzle: what is done to coordinates leaves the swizzle alone."""
    changed = layout.over(change(layout.inner)) if isinstance(layout, ComposedLayout) else change(layout)
    return cast("L", changed)
