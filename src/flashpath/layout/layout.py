"""A layout is a function from coordinates to indices, written as shape:stride."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from flashpath.errors import FlashpathError
from flashpath.layout.int_tuple import IntTuple, compact_stride, flatten, is_congruent, product, written
from flashpath.messages import Message, told


class LayoutError(FlashpathError):
    """A layout that does not exist, or an operation that is not defined on it."""


@dataclass(frozen=True, init=False)
class Layout:
    """Shape and stride, both nested alike: `Layout((4, 8), (8, 1))` is 4 rows of 8, row by row.

    Called with a coordinate it gives an index: `layout(1, 2)`, `layout((1, 2))`, or `layout(9)` where one
    number counts through the coordinates colexicographically, the first mode fastest.
    """

    shape: IntTuple
    stride: IntTuple

    def __init__(self, shape: IntTuple, stride: IntTuple | None = None) -> None:
        extents = flatten(shape)
        if not extents or min(extents) < 1:
            raise LayoutError("layout.extent-below-one", shape=written(shape))
        stride = compact_stride(shape) if stride is None else stride
        if not is_congruent(shape, stride):
            where = _first_difference(shape, stride)
            raise LayoutError(
                "layout.different-profile", shape=written(shape), stride=written(stride), where=where
            )
        if min(flatten(stride)) < 0:
            raise LayoutError("layout.negative-stride", stride=written(stride))
        object.__setattr__(self, "shape", shape)
        object.__setattr__(self, "stride", stride)

    # ---- Modes -----------------------------------------------------------------------------------------

    @property
    def rank(self) -> int:
        """The number of modes; an integer shape is one mode."""
        return 1 if isinstance(self.shape, int) else len(self.shape)

    def __len__(self) -> int:
        return self.rank

    def __getitem__(self, mode: int) -> Layout:
        """Returns one mode, a layout by itself."""
        if isinstance(self.shape, int) or isinstance(self.stride, int):
            return (self,)[mode]
        return Layout(self.shape[mode], self.stride[mode])

    def __iter__(self) -> Iterator[Layout]:
        return (self[mode] for mode in range(self.rank))

    @property
    def flat(self) -> list[tuple[int, int]]:
        """The extents and strides of all modes, without nesting."""
        return list(zip(flatten(self.shape), flatten(self.stride), strict=True))

    # ---- The function ----------------------------------------------------------------------------------

    @property
    def size(self) -> int:
        """The number of coordinates."""
        return product(self.shape)

    @property
    def cosize(self) -> int:
        """One more than the largest index: how many elements of memory the layout spans."""
        return 1 + sum((extent - 1) * stride for extent, stride in self.flat)

    def __call__(self, *coordinate: IntTuple) -> int:
        """Returns the index of a coordinate."""
        given = coordinate[0] if len(coordinate) == 1 else coordinate
        return _index(given, self.shape, self.stride, given)

    def coordinate(self, number: int) -> IntTuple:
        """Returns the nested coordinate that a single number stands for."""
        _index(number, self.shape, self.stride, number)  # refuses what is out of range
        return _unfolded(number, self.shape)

    def indices(self) -> list[int]:
        """Returns the index of every coordinate, in colexicographical order."""
        found = [0]
        for extent, stride in self.flat:
            found = [index + stride * step for step in range(extent) for index in found]
        return found

    def is_injective(self) -> bool:
        """Whether no two coordinates share an index."""
        return len(set(self.indices())) == self.size

    def with_shape(self, *shape: IntTuple) -> Layout:
        """Returns the same function of a single number under another shape of the same size."""
        from flashpath.layout.algebra import composition

        return composition(self, Layout(shape[0] if len(shape) == 1 else shape))

    def __str__(self) -> str:
        return f"{written(self.shape)}:{written(self.stride)}"

    def __repr__(self) -> str:
        return f"Layout('{self}')"


def make_layout(modes: Iterable[Layout]) -> Layout:
    """Returns the layout that has these layouts as its modes."""
    modes = list(modes)
    return Layout(tuple(mode.shape for mode in modes), tuple(mode.stride for mode in modes))


def row_major(*shape: int) -> Layout:
    """Returns the layout of a C array: the last mode is the fastest."""
    return Layout(shape, tuple(math.prod(shape[mode + 1 :]) for mode in range(len(shape))))


def _index(coordinate: IntTuple, shape: IntTuple, stride: IntTuple, whole: IntTuple) -> int:
    if isinstance(coordinate, int):
        if not 0 <= coordinate < product(shape):
            raise LayoutError(
                "layout.coordinate-out-of-range",
                coordinate=written(whole),
                part=coordinate,
                shape=written(shape),
                size=product(shape),
            )
        index = 0
        for extent, step in zip(flatten(shape), flatten(stride), strict=True):
            coordinate, position = divmod(coordinate, extent)
            index += position * step
        return index
    if isinstance(shape, int) or isinstance(stride, int) or len(coordinate) != len(shape):
        raise LayoutError(
            "layout.coordinate-profile",
            coordinate=written(whole),
            part=written(coordinate),
            shape=written(shape),
        )
    return sum(_index(*mode, whole) for mode in zip(coordinate, shape, stride, strict=True))


def _unfolded(number: int, shape: IntTuple) -> IntTuple:
    if isinstance(shape, int):
        return number
    parts: list[IntTuple] = []
    for part in shape:
        number, position = divmod(number, product(part))
        parts.append(_unfolded(position, part))
    return tuple(parts)


def _first_difference(shape: IntTuple, stride: IntTuple, path: tuple[int, ...] = ()) -> Message:
    """Says in which mode the parentheses of shape and stride differ first."""
    if isinstance(shape, tuple) and isinstance(stride, tuple) and len(shape) == len(stride):
        pairs = enumerate(zip(shape, stride, strict=True))
        mode, (extent, step) = next(pair for pair in pairs if not is_congruent(*pair[1]))
        return _first_difference(extent, step, (*path, mode))
    if not path:
        return told("layout.differs-at-all", shape=_counted(shape), stride=_counted(stride))
    mode = ".".join(map(str, path))
    return told("layout.differs-in-mode", mode=mode, shape=written(shape), stride=written(stride))


def _counted(value: IntTuple) -> Message:
    if isinstance(value, int):
        return told("layout.one-integer")
    return told("layout.so-many-modes", count=len(value))
