"""Sums of tensor cores, by generation, in NumPy: a second telling of what docs/decisions/0012 says.

Every step is exact in double precision: products have at most 22 bits, aligned sums at most 33.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tensor_core_cases import FLOATS, Array, Case, Float


@dataclass(frozen=True)
class Unit:
    """What adds: so many bits below the largest exponent, of so many bytes of a row at once.

    Zeros take part with an exponent so far below that of the accumulator's smallest normal number.
    """

    bits: int
    row_bytes: int
    zeros_below: int


UNITS = {"Ampere": Unit(24, 16, 6), "Ada": Unit(24, 16, 6), "Hopper": Unit(25, 32, 7)}
ADA_BYTES = Unit(13, 16, 6)


def decode(kind: str, raw: Array) -> Array:
    of = FLOATS[kind]
    bits = raw.astype(np.uint64) >> np.uint64(of.unread)
    field = (bits >> np.uint64(of.fraction_bits)).astype(np.int64) & of.top
    fraction = (bits & np.uint64((1 << of.fraction_bits) - 1)).astype(np.float64)
    whole = np.where(field > 0, fraction + 2.0**of.fraction_bits, fraction)
    value = np.ldexp(whole, np.maximum(field, 1) - of.bias - of.fraction_bits)
    if of.has_infinity:
        value = np.where(field == of.top, np.where(fraction == 0, np.inf, np.nan), value)
    else:
        value = np.where((field == of.top) & (fraction == (1 << of.fraction_bits) - 1), np.nan, value)
    negative = bits >> np.uint64(of.exponent_bits + of.fraction_bits) & np.uint64(1)
    return np.where(negative == 1, -value, value)


def encode(kind: str, values: Array) -> Array:
    """Values that the type has; one NaN."""
    dtype, nan = (np.float32, 0x7FFFFFFF) if kind == "f32" else (np.float16, 0x7FFF)
    raw = values.astype(dtype).view(f"u{np.dtype(dtype).itemsize}")
    return np.where(np.isnan(values), raw.dtype.type(nan), raw)


def exponents(values: Array, of: Float) -> Array:
    """As they are written: those of subnormals are that of the smallest normal number."""
    return np.maximum(np.frexp(values)[1] - 1, 1 - of.bias)


def narrow(values: Array, kind: str, bits: int) -> Array:
    """Cut off to a float of so many bits, or rounded to a half; never -0."""
    of = FLOATS[kind]
    unit = np.ldexp(1.0, exponents(values, of) - bits)
    units = np.trunc(values / unit) if kind == "f32" else np.rint(values / unit)
    largest = np.ldexp(2 - 2.0**-of.fraction_bits, of.bias)
    narrowed = units * unit + 0.0
    return np.where(np.abs(narrowed) > largest, np.copysign(np.inf, narrowed), narrowed)


def add_group(c: Array, a: Array, b: Array, kinds: tuple[str, str, str], unit: Unit, kept: int) -> Array:
    """c (m, n) + a (m, k) · b (k, n), all k at once; `kinds` are those of the sums, of a and of b."""
    of_sums, of_a, of_b = (FLOATS[kind] for kind in kinds)
    products = a[..., :, :, None] * b[..., None, :, :]
    of_products = exponents(a, of_a)[..., :, :, None] + exponents(b, of_b)[..., None, :, :]
    of_products = np.where(products == 0, -1000, of_products)
    of_c = np.where(c == 0, 1 - of_sums.bias - unit.zeros_below, exponents(c, of_sums))
    scale = np.ldexp(1.0, unit.bits - np.maximum(of_products.max(-2), of_c))
    total = np.trunc(c * scale) + np.trunc(products * scale[..., None, :]).sum(-2)
    plain = c + products.sum(-2)
    return np.where(np.isfinite(plain), narrow(total / scale, kinds[0], kept), plain)


def multiply(case: Case, generation: str, raw_a: Array, raw_b: Array, raw_c: Array) -> Array:
    """D of one of the cases whose sums are aligned: mma and wmma of everything shorter than doubles."""
    kind_d, kind_a, kind_b, kind_c = case.kinds
    a, b, c = decode(kind_a, raw_a), decode(kind_b, raw_b), decode(kind_c, raw_c)
    sums = "f16" if kind_d == kind_c == "f16" else "f32"
    fraction = FLOATS[sums].fraction_bits
    unit = UNITS[generation]
    k = np.arange(case.k)
    if (
        FLOATS[kind_a].bits == 8 and generation == "Hopper"
    ):  # as halves, every second pair first, C at the end
        total = np.zeros_like(c)
        for group in (k % 4 < 2, k % 4 >= 2):
            kinds = (sums, "f16", "f16")
            total = add_group(total, a[..., group], b[..., group, :], kinds, unit, fraction)
        return encode(kind_d, (c + total).astype(np.float32))
    kept = fraction
    if FLOATS[kind_a].bits == 8:
        unit = ADA_BYTES
        kept = 13 if sums == "f32" else fraction
    at_once = min(case.k, unit.row_bytes * 8 // FLOATS[kind_a].bits)
    if case.family == "wmma" and kind_a == "tf32":  # two instructions of four
        at_once = 4
    for first in range(0, case.k, at_once):
        group = slice(first, first + at_once)
        c = add_group(c, a[..., group], b[..., group, :], (sums, kind_a, kind_b), unit, kept)
    return encode(kind_d, c)
