"""Every approximate instruction, and the numbers that it is tried on.

Samples are bit patterns: of every sign and exponent the edges, and patterns from a counter through a fixed
mixing function, so that they are the same on every machine and with every version of NumPy. Sweeps are all
fractions of an exponent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

SAMPLES = 8192
FRACTIONS = 1 << 23  # of an f32


def _bits_of(kind: str) -> np.dtype[Any]:
    size = 4 if kind.endswith("x2") else int(kind.lstrip("bf")) // 8
    return np.dtype(f"u{size}")


@dataclass(frozen=True)
class Instruction:
    """`sweeps` are the sign and exponent fields whose fractions are all tried, or each `step`-th."""

    opcode: str
    operands: int = 1
    sweeps: tuple[int, ...] = ()
    step: int = 1

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the bits of an operand."""
        return _bits_of(self.opcode.rpartition(".")[2])

    @property
    def result(self) -> np.dtype[Any]:
        """Of the bits of the result, whose type a conversion names before that of its operand."""
        return _bits_of(self.opcode.split(".")[-2]) if self.opcode.startswith("cvt.") else self.dtype

    @property
    def entry(self) -> str:
        return self.opcode.replace(".", "_")


def _exponents(*values: int) -> tuple[int, ...]:
    return tuple(127 + value for value in values)


_NEGATIVE = 256
# One exponent for each way through a function's unit: even and odd ones of roots, both sides of 1 of the
# logarithm, all that have segments of tanh, and of sin and cos a small one and one of more than a turn.
_SWEPT = {
    "ex2": (*_exponents(0), _NEGATIVE + 127),
    "rcp": _exponents(0),
    "rsqrt": _exponents(0, 1),
    "sqrt": _exponents(0, 1),
    "lg2": _exponents(-1, 0),
    "sin": _exponents(-3, 2),
    "cos": _exponents(-3, 2),
}

INSTRUCTIONS = {
    each.opcode: each
    for each in (
        *(Instruction(f"{name}.approx.f32") for name in _SWEPT),
        *(Instruction(f"{name}.approx.ftz.f32", 1, swept) for name, swept in _SWEPT.items()),
        Instruction("tanh.approx.f32", 1, _exponents(*range(-8, 3)), 4),  # its unit reads no lower bits
        Instruction("div.approx.f32", 2),
        Instruction("div.approx.ftz.f32", 2),
        Instruction("div.full.f32", 2),
        Instruction("div.full.ftz.f32", 2),
        *(
            Instruction(f"{name}.{kind}")
            for name in ("ex2.approx", "tanh.approx")
            for kind in ("f16", "f16x2")
        ),
        *(
            Instruction(f"{name}.{kind}")
            for name in ("ex2.approx.ftz", "tanh.approx")
            for kind in ("bf16", "bf16x2")
        ),
        Instruction("rcp.approx.ftz.f64"),
        Instruction("rsqrt.approx.ftz.f64"),
        Instruction("rsqrt.approx.f64"),
    )
}


def _mixed(first: int, count: int) -> Array:
    """64 bits from each of these numbers (the finalizer of splitmix64)."""
    z = (np.arange(first, first + count, dtype=np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def _words(dtype: np.dtype[Any], exponent_bits: int, stream: int) -> Array:
    """Half of them of every sign and exponent, with edges among the fractions; half of them any pattern."""
    bits = 8 * dtype.itemsize
    fraction_bits = bits - 1 - exponent_bits
    upper = np.arange(1 << (exponent_bits + 1), dtype=np.uint64) << np.uint64(fraction_bits)
    half, first = SAMPLES // 2, stream << 32
    fractions = _mixed(first, half) >> np.uint64(64 - fraction_bits)
    if exponent_bits == 8:
        fractions.reshape(len(upper), -1)[:, :4] = [0, 1, 1 << 22, (1 << 23) - 1]
    else:
        fractions[::4], fractions[1::4] = 0, (1 << fraction_bits) - 1
    regular = np.repeat(upper, half // len(upper)) | fractions
    return np.concatenate([regular, _mixed(first + half, half) >> np.uint64(64 - bits)]).astype(dtype)


def samples(instruction: Instruction) -> list[Array]:
    """The bits of the operands."""
    dtype = instruction.dtype
    if dtype.itemsize == 2:
        return [np.arange(65536, dtype=dtype)]
    if instruction.opcode.endswith("x2"):
        every = np.arange(65536, dtype=dtype)
        return [every | every[::-1] << np.uint32(16)]
    exponent_bits = 11 if dtype.itemsize == 8 else 8
    first = _words(dtype, exponent_bits, 0)
    if instruction.operands == 1:
        return [first]
    second = _words(dtype, exponent_bits, 1)
    order = np.argsort(_mixed(2 << 32, SAMPLES // 2), kind="stable")
    second[: SAMPLES // 2] = second[: SAMPLES // 2][order]
    return [first, second]


def sweep(field: int, step: int = 1) -> Array:
    """The bits of all f32 with this sign and exponent, or of each `step`-th."""
    return np.arange(0, FRACTIONS, step, dtype=np.uint32) + np.uint32(field << 23)
