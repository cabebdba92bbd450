"""Floats as rational numbers, rounded once and exactly: the model of every rounding mode and format."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np

from .harness import Array, Model, applied

MODES = ("rn", "rz", "rm", "rp")


@dataclass(frozen=True)
class Format:
    digits: int  # the leading one included
    least_exponent: int  # of a normal number
    largest: Fraction


def _ieee(digits: int, least: int, top: int) -> Format:
    return Format(digits, least, (2 - Fraction(1, 2 ** (digits - 1))) * Fraction(2) ** top)


FORMATS: dict[str, Format] = {
    "f16": _ieee(11, -14, 15),
    "bf16": _ieee(8, -126, 127),
    "tf32": _ieee(11, -126, 127),
    "f32": _ieee(24, -126, 127),
    "f64": _ieee(53, -1022, 1023),
    "e4m3": Format(4, -6, Fraction(448)),
    "e5m2": _ieee(3, -14, 15),
}
DTYPES: dict[str, Any] = {
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "tf32": np.dtype(np.float32),
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    "e4m3": np.dtype(ml_dtypes.float8_e4m3fn),
    "e5m2": np.dtype(ml_dtypes.float8_e5m2),
}


def integral(x: Fraction, mode: str) -> int:
    """To an integer: to nearest (rn: ties to even, rna: away), toward zero, down or up."""
    low = math.floor(x)
    if mode == "rm" or (mode == "rz" and x >= 0):
        return low
    if mode in ("rp", "rz"):
        return math.ceil(x)
    rest = x - low
    if rest == Fraction(1, 2):
        return low + (low % 2 if mode == "rn" else int(x > 0))
    return low + int(rest > Fraction(1, 2))


def rounded(x: Fraction, kind: str, mode: str = "rn", *, finite: bool = False) -> float:
    """A number that is not zero, in a format; beyond the largest it is infinite where the mode has it so."""
    made = FORMATS[kind]
    exponent = abs(x.numerator).bit_length() - x.denominator.bit_length()  # or one less
    if abs(x) < Fraction(2) ** exponent:
        exponent -= 1
    unit = Fraction(2) ** (max(exponent, made.least_exponent) - made.digits + 1)
    result = integral(x / unit, mode) * unit
    sign = -1.0 if x < 0 else 1.0
    if abs(result) > made.largest:
        inward = mode == "rz" or mode == ("rp" if x < 0 else "rm")
        return sign * (float(made.largest) if finite or inward else math.inf)
    return math.copysign(float(result), sign)


def flushed(x: float, kind: str) -> float:
    return math.copysign(0.0, x) if abs(x) < 2.0 ** FORMATS[kind].least_exponent else x


def saturated(x: float) -> float:
    return min(x, 1.0) if x > 0 else 0.0  # NaN too


def operation(
    kind: str,
    exact: Model,
    limit: Model,
    mode: str = "rn",
    *,
    mirror: Model | None = None,
    ftz: bool = False,
    sat: bool = False,
    relu: bool = False,
) -> Model:
    """The model of an arithmetic instruction.

    `exact` gives the true result of finite operands, None where there is none; `limit` is the operation in
    floats, asked where an operand is infinite or a NaN, or where the true result is zero or does not exist.
    `mirror` is for sums: the operands that give the opposite. What cancels is -0 when rounded down.
    """

    def one(*values: float) -> float:
        if ftz:
            values = tuple(flushed(x, kind) for x in values)
        true = applied(exact, *(Fraction(x) for x in values)) if all(map(math.isfinite, values)) else None
        if not true:
            result = float(applied(limit, *map(np.float64, values)))
            if true == 0 and mode == "rm" and mirror is not None:
                opposite = float(applied(limit, *map(np.float64, applied(mirror, *values))))
                if math.copysign(1, result) == math.copysign(1, opposite):
                    result = -0.0
        else:
            result = rounded(true, kind, mode)
        if ftz:
            result = flushed(result, kind)
        if relu and not math.isnan(result):
            result = max(result, 0.0) + 0.0
        return saturated(result) if sat else result

    def model(*arrays: Array) -> Array:
        lists = [array.astype(np.float64).tolist() for array in arrays]
        return np.array([one(*each) for each in zip(*lists, strict=True)]).astype(DTYPES[kind])

    return model
