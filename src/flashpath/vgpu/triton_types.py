"""Triton's names for the types of arguments, and the bytes of their values as a kernel's parameters."""

from __future__ import annotations

import struct
from typing import Any

# The letters of `struct`.
FORMATS = {
    "i1": "B",
    "u1": "B",
    "i8": "b",
    "u8": "B",
    "i16": "h",
    "u16": "H",
    "i32": "i",
    "u32": "I",
    "i64": "q",
    "u64": "Q",
    "fp16": "e",
    "bf16": "H",
    "fp32": "f",
    "f32": "f",
    "fp64": "d",
}


def value_bytes(name: str, value: Any) -> bytes:
    """Returns the bytes of one value."""
    letter = FORMATS[name]
    if name == "bf16":
        return struct.pack("<H", bf16_bits(value))
    return struct.pack(f"<{letter}", float(value) if letter in "efd" else int(value))


def bf16_bits(value: float) -> int:
    """The bits of a number, cut and not rounded: so does Triton's own launcher."""
    return struct.unpack("<I", float32_bytes(value))[0] >> 16


def float32_bytes(value: float) -> bytes:
    """The bytes of a number, as C converts it: infinity where it is too large."""
    try:
        return struct.pack("<f", value)
    except OverflowError:
        return struct.pack("<f", float("inf") if value > 0 else float("-inf"))


def descriptor_numbers(rank: int, flags: int) -> list[str]:
    """The types of what follows the pointer of a descriptor taken apart: shape and strides come twice."""
    return ["i64"] * (2 * rank) + ["i1"] * flags + ["i32"] * rank + ["i64"] * rank
