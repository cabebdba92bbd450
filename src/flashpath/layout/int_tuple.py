"""Nested tuples of integers: shapes, strides and coordinates."""

from __future__ import annotations

import math
from collections.abc import Callable

IntTuple = int | tuple["IntTuple", ...]


def flatten(value: IntTuple) -> tuple[int, ...]:
    """Returns the integers of a nested tuple, from left to right."""
    if isinstance(value, int):
        return (value,)
    found: list[int] = []
    for part in value:
        if isinstance(part, int):
            found.append(part)
        else:
            found += flatten(part)
    return tuple(found)


def product(value: IntTuple) -> int:
    """Returns the product of all integers of a nested tuple."""
    return math.prod(flatten(value))


def depth(value: IntTuple) -> int:
    """Returns how many parentheses are nested: 0 for an integer."""
    return 0 if isinstance(value, int) else 1 + max((depth(part) for part in value), default=0)


def is_congruent(one: IntTuple, other: IntTuple) -> bool:
    """Whether the parentheses of both are alike."""
    if isinstance(one, int) or isinstance(other, int):
        return isinstance(one, int) and isinstance(other, int)
    return len(one) == len(other) and all(map(is_congruent, one, other))


def transform(value: IntTuple, function: Callable[[int], int]) -> IntTuple:
    """Applies a function to every integer, from left to right, and keeps the parentheses."""
    return function(value) if isinstance(value, int) else tuple(transform(part, function) for part in value)


def compact_stride(shape: IntTuple, first: int = 1) -> IntTuple:
    """Returns the strides with which a shape fills memory without gaps, its first mode fastest."""
    next_stride = first

    def stride_of(extent: int) -> int:
        nonlocal next_stride
        stride, next_stride = next_stride, next_stride * extent
        return stride

    return transform(shape, stride_of)


def written(value: IntTuple) -> str:
    """Returns a nested tuple as CuTe prints it: `((2,4),8)`."""
    return str(value) if isinstance(value, int) else f"({','.join(map(written, value))})"
