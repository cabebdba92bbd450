"""Arithmetic where IEEE 754 leaves bits open: which NaN comes out, and when a result counts as subnormal.

NaNs meet each other, infinities, zeros and numbers in every operand. Products, sums of products and
conversions that are within a few units of the least normal float are flushed, or not.
"""

from __future__ import annotations

import numpy as np
from special_function_cases import Array, Instruction

_ROUNDINGS = ("rn", "rz", "rm", "rp")
_TINY = tuple(
    Instruction(f"{name}.{rounding}.ftz.f32", operands)
    for name, operands in (("mul", 2), ("fma", 3))
    for rounding in _ROUNDINGS
)
_TINY_CONVERSIONS = tuple(Instruction(f"cvt.{rounding}.ftz.f32.f64") for rounding in _ROUNDINGS)

_SIGNS = (Instruction("neg.f64"), Instruction("abs.f64"))
_NANS = (
    *(
        Instruction(f"{name}.rn.{kind}", 2)
        for name in ("add", "sub", "mul", "div")
        for kind in ("f32", "f64")
    ),
    *(Instruction(f"{name}.{kind}", 2) for name in ("min", "max") for kind in ("f32", "f64")),
    *(Instruction(f"{name}.NaN.f32", 2) for name in ("min", "max")),
    *(Instruction(f"fma.rn.{kind}", 3) for kind in ("f32", "f64", "f16", "bf16")),
    *(Instruction(f"{name}.rn.{kind}") for name in ("sqrt", "rcp") for kind in ("f32", "f64")),
    *(Instruction(f"{name}.f16", 2) for name in ("add", "mul", "min", "max", "min.NaN", "max.NaN")),
    *(Instruction(f"{name}.bf16", 2) for name in ("add", "mul", "min", "max", "min.NaN", "max.NaN")),
    *_SIGNS,
    Instruction("cvt.f64.f32"),
    Instruction("cvt.rn.f32.f64"),
    Instruction("cvt.f32.f16"),
    Instruction("cvt.rn.f16.f32"),
    Instruction("cvt.f32.bf16"),
    Instruction("cvt.rn.bf16.f32"),
)

INSTRUCTIONS = {each.opcode: each for each in (*_TINY, *_TINY_CONVERSIONS, *_NANS)}

_FRACTION_BITS = {"f16": 10, "bf16": 7, "f32": 23, "f64": 52}


def _special_values(kind: str) -> Array:
    """Quiet and signalling NaNs of both signs with and without a payload; infinities, zeros and ones."""
    fraction_bits = _FRACTION_BITS[kind]
    bits = 64 if kind == "f64" else 32 if kind == "f32" else 16
    infinity = ((1 << (bits - 1)) - 1) >> fraction_bits << fraction_bits
    quiet = 1 << (fraction_bits - 1)
    payload = quiet // 3
    one = infinity >> 1 >> fraction_bits << fraction_bits
    magnitudes = [
        *(infinity | quiet, infinity | quiet | payload, infinity | payload, infinity | 1),
        *(infinity | (quiet << 1) - 1, infinity, 0, one),
    ]
    return np.array([sign | each for each in magnitudes for sign in (0, 1 << (bits - 1))], f"u{bits // 8}")


def _near_the_least_normal() -> list[Array]:
    """x, y and z: x·y is a few units from ±2^-126, or from twice that, from which z takes one."""
    count = 4096
    number = np.arange(count, dtype=np.uint32)
    fraction = number * np.uint32(2654435761) >> np.uint32(9)
    x = (fraction | np.uint32(100 << 23)).view(np.float32)
    multiple = np.where(number % 4 == 3, 2.0, 1.0)
    y = (multiple * 2.0**-126 / x.astype(np.float64)).astype(np.float32).view(np.uint32)
    y = y + number // np.uint32(4) % np.uint32(7) - np.uint32(3) | (number & np.uint32(16)) << np.uint32(27)
    least = np.where(number & np.uint32(16), 0x00800000, 0x80800000).astype(np.uint32)
    z = np.where(number % 4 == 3, least, number % 4 << np.uint32(31))
    return [x.view(np.uint32), y, z.astype(np.uint32)]


def operands(instruction: Instruction) -> list[Array]:
    """Their bits."""
    if instruction in _TINY:
        return _near_the_least_normal()[: instruction.operands]
    if instruction in _TINY_CONVERSIONS:
        steps = np.arange(-128, 128) * 2.0**-28
        below = 2.0**-126 * (1 + steps)
        return [np.concatenate([below, -below]).view(np.uint64)]
    values = _special_values(instruction.opcode.rpartition(".")[2])
    grid = np.meshgrid(*[values] * instruction.operands, indexing="ij")
    return [np.ascontiguousarray(each.ravel()) for each in grid]
