"""Tensor maps of the virtual GPU: made by the engine, which alone knows what their bytes mean."""

from __future__ import annotations

from collections.abc import Sequence

from flashpath.errors import FlashpathError
from flashpath.vgpu.device import engine

# As CUtensorMapDataType numbers them. What TMA has no type for is moved as bytes of its size.
TYPES = {
    "uint8": 0,
    "int8": 0,
    "bool": 0,
    "float8_e4m3fn": 0,
    "float8_e5m2": 0,
    "uint16": 1,
    "int16": 1,
    "uint32": 2,
    "int32": 3,
    "uint64": 4,
    "int64": 5,
    "float16": 6,
    "float32": 7,
    "float64": 8,
    "bfloat16": 9,
}
SWIZZLES = (0, 32, 64, 128)  # bytes
FILLS = ("zeros", "nan")
ADDRESS = 0  # where in a map the array's address stands


def encoded(
    type_: int,
    address: int,
    shape: Sequence[int],
    strides: Sequence[int],
    box: Sequence[int],
    steps: Sequence[int],
    *,
    swizzle: int = 0,
    fill: str = "zeros",
    corners: tuple[Sequence[int], Sequence[int]] = ((), ()),
) -> bytes:
    """A map's 128 bytes. Dimensions come in the order of arrays, the innermost last; strides are in bytes.

    With `corners`, of the dimensions of pixels, it is one for im2col: `box` has pixels and channels.
    """
    modes = (0, SWIZZLES.index(swizzle), 0, FILLS.index(fill))
    lower, upper = (list(reversed(corner)) for corner in corners)
    problem, dimension, made = engine().tensor_map(
        type_,
        address,
        list(reversed(shape)),
        list(strides[-2::-1]) if len(strides) > 1 else [],
        list(reversed(box)),
        list(reversed(steps)),
        lower,
        upper,
        modes,
    )
    if problem:
        raise FlashpathError(
            problem,
            shape=str(tuple(shape)),
            strides=str(tuple(strides)),
            box=str(tuple(box)),
            steps=str(tuple(steps)),
            swizzle=swizzle,
            dimension=len(shape) - 1 - dimension,
            address=hex(address),
        )
    return made
