"""Layouts drawn at random: nested shapes, strides permuted, with gaps, broadcast, or without any order."""

from __future__ import annotations

import random

from flashpath.layout import IntTuple, Layout
from flashpath.layout.int_tuple import flatten, transform

_EXTENTS = (1, 2, 2, 3, 4, 4, 6, 8)


def random_shape(rng: random.Random, depth: int = 2) -> IntTuple:
    if depth == 0 or rng.random() < 0.5:
        return rng.choice(_EXTENTS)
    return tuple(random_shape(rng, depth - 1) for _ in range(rng.randint(1, 3)))


def random_layout(rng: random.Random, most: int = 512) -> Layout:
    """Draws a layout of at most so many coordinates."""
    shape = random_shape(rng)
    while Layout(shape).size > most:
        shape = random_shape(rng)
    extents = flatten(shape)
    if rng.random() < 0.7:
        strides = [0] * len(extents)
        stride = 1
        for mode in rng.sample(range(len(extents)), len(extents)):
            stride *= rng.choice((1, 1, 1, 1, 2, 3))
            strides[mode] = 0 if rng.random() < 0.05 else stride
            stride *= extents[mode]
    else:
        strides = [rng.choice((0, 1, 2, 3, 4, 8, 12, 16)) for _ in extents]
    remaining = iter(strides)
    return Layout(shape, transform(shape, lambda _: next(remaining)))
