"""The numbers that tensor cores are tried on.

They come from a counter through a fixed mixing function, so that they are the same on every machine and with
every version of NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from tensor_core_cases import FLOATS, Array, Case, Float, pack


class Source:
    """Random numbers that depend on nothing but their key: SplitMix64 of a counter."""

    def __init__(self, *key: object) -> None:
        state = 0x243F6A8885A308D3
        for byte in "/".join(map(str, key)).encode():
            state = (state ^ byte) * 0x100000001B3 % 2**64
        self._next = state

    def words(self, *shape: int) -> Array:
        count = int(np.prod(shape))
        with np.errstate(over="ignore"):
            z = np.uint64(self._next) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(
                0x9E3779B97F4A7C15
            )
            z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        self._next = (self._next + count * 0x9E3779B97F4A7C15) % 2**64
        return (z ^ (z >> np.uint64(31))).reshape(shape)

    def below(self, limit: int, *shape: int) -> Array:
        return (self.words(*shape) >> np.uint64(11)).astype(np.int64) % limit

    def chance(self, one_in: int, *shape: int) -> Array:
        return self.below(one_in, *shape) == 0


def assemble(of: Float, sign: Array, field: Array, fraction: Array, unread: Array) -> Array:
    raw = (sign.astype(np.uint64) << np.uint64(of.exponent_bits)) | field.astype(np.uint64)
    raw = (raw << np.uint64(of.fraction_bits)) | (fraction & np.uint64((1 << of.fraction_bits) - 1))
    raw = (raw << np.uint64(of.unread)) | (unread & np.uint64((1 << of.unread) - 1))
    return raw.astype(f"u{of.bits // 8}")


def numbers(source: Source, of: Float, low: int, high: int, shape: tuple[int, ...]) -> Array:
    """Random signs and fractions, exponents from `low` to `high` or what of that the format has."""
    least, most = 1 - of.bias, of.top - of.bias - (1 if of.has_infinity else 0)
    low, high = min(max(low, least - 1), most), min(max(high, least - 1), most)  # least - 1: subnormal
    field = low + of.bias + source.below(high - low + 1, *shape)
    words = source.words(*shape)
    raw = assemble(of, words >> np.uint64(63), field, words, source.words(*shape))
    nan = (1 << of.bits - 1) - 1  # e4m3 has its NaN among the largest numbers
    return (
        raw
        if of.has_infinity
        else np.where(raw & np.array(nan, raw.dtype) == nan, raw ^ raw.dtype.type(1), raw)
    )


def finite_edges(of: Float) -> list[int]:
    """Zeros, the smallest and largest subnormals, the smallest normal, one and its neighbour, as raw bits."""
    fraction = (1 << of.fraction_bits) - 1
    one = of.bias << of.fraction_bits
    return _of_both_signs(of, [0, 1, fraction, fraction + 1, one, one | fraction])


def special_values(of: Float) -> list[int]:
    """The same, the largest numbers, infinities and NaNs."""
    fraction = (1 << of.fraction_bits) - 1
    top = of.top << of.fraction_bits
    ends = (
        [top - 1, top, top | 1, top | fraction] if of.has_infinity else [top | fraction - 1, top | fraction]
    )
    return finite_edges(of) + _of_both_signs(of, ends)


def _of_both_signs(of: Float, values: list[int]) -> list[int]:
    sign = 1 << (of.exponent_bits + of.fraction_bits)
    return [(value | s) << of.unread for value in values for s in (0, sign)]


def with_specials(source: Source, of: Float, values: Array, one_in: int) -> Array:
    table = np.array(special_values(of), np.uint64).astype(values.dtype)
    chosen = table[source.below(len(table), *values.shape)]
    return np.where(source.chance(one_in, *values.shape), chosen, values)


Matrices = tuple[Array, Array, Array]


@dataclass(frozen=True)
class Shapes:
    a: tuple[int, ...]
    b: tuple[int, ...]
    c: tuple[int, ...]


def _in_range(
    case: Case, source: Source, shapes: Shapes, factors: tuple[int, int], sums: tuple[int, int]
) -> Matrices:
    _, kind_a, kind_b, kind_c = case.kinds
    return (
        numbers(source, FLOATS[kind_a], *factors, shapes.a),
        numbers(source, FLOATS[kind_b], *factors, shapes.b),
        numbers(source, FLOATS[kind_c], *sums, shapes.c),
    )


def _near(case: Case, source: Source, shapes: Shapes) -> Matrices:
    """Numbers of about the same size."""
    return _in_range(case, source, shapes, (-2, 2), (-3, 4))


def _wide(case: Case, source: Source, shapes: Shapes) -> Matrices:
    """Products that lie far apart, so that most lose bits to the largest."""
    return _in_range(case, source, shapes, (-15, 15), (-30, 30))


def _finite(case: Case, source: Source, shapes: Shapes) -> Matrices:
    """Any finite bits."""
    return _in_range(case, source, shapes, (-9999, 9999), (-9999, 9999))


def _bits(case: Case, source: Source, shapes: Shapes) -> Matrices:
    """Any bits."""
    a, b, c = _finite(case, source, shapes)
    return (
        source.words(*shapes.a).astype(a.dtype),
        source.words(*shapes.b).astype(b.dtype),
        source.words(*shapes.c).astype(c.dtype),
    )


def _sparse(case: Case, source: Source, shapes: Shapes) -> Matrices:
    """Few products in a sum, the others zeros of either sign."""
    a, b, c = _wide(case, source, shapes)
    sign = a.dtype.type(1 << FLOATS[case.kinds[1]].bits - 1)
    return np.where(source.chance(4, *shapes.a), a, a & sign), b, c


def _cancelling(case: Case, source: Source, shapes: Shapes) -> Matrices:
    """Neighbours in k are nearly opposite: what is left is far below what was added."""
    a, b, c = _in_range(case, source, shapes, (-4, 4), (-20, -2))
    sign = b.dtype.type(1 << FLOATS[case.kinds[2]].bits - 1)
    a[..., 1::2] = a[..., ::2]
    b[..., 1::2, :] = b[..., ::2, :] ^ sign
    # One bit of one in four is off, so that something is left.
    last = b.dtype.type(1 << FLOATS[case.kinds[2]].unread)
    return a, np.where(source.chance(4, *shapes.b), b ^ last, b), c


def _tiny(case: Case, source: Source, shapes: Shapes) -> Matrices:
    """Products and sums around the smallest numbers of the accumulator and of the factors."""
    factor, total = FLOATS[case.kinds[1]], FLOATS[case.kinds[0]]
    if factor.bias < 100:  # the smallest factors
        a, b, c = _in_range(case, source, shapes, (-factor.bias, 4 - factor.bias), (-52, -20))
    else:
        middle = -(total.bias + total.fraction_bits) // 2
        a, b, c = _in_range(case, source, shapes, (middle - 8, middle + 14), (-9999, 12 - total.bias))
    of_c = FLOATS[case.kinds[3]]
    c[1::2] = numbers(source, of_c, -9999, 3 - of_c.bias, c[1::2].shape)
    return a, b, c


def _huge(case: Case, source: Source, shapes: Shapes) -> Matrices:
    """Products and sums around the largest number of the accumulator."""
    total = FLOATS[case.kinds[0]]
    middle = (total.bias - 1) // 2
    return _in_range(case, source, shapes, (middle - 3, middle + 1), (total.bias - 5, total.bias + 9))


def _special(case: Case, source: Source, shapes: Shapes) -> Matrices:
    """Here and there zeros, infinities, NaNs and the ends of the range."""
    a, b, c = _near(case, source, shapes)
    _, kind_a, kind_b, kind_c = case.kinds
    return (
        with_specials(source, FLOATS[kind_a], a, 48),
        with_specials(source, FLOATS[kind_b], b, 48),
        with_specials(source, FLOATS[kind_c], c, 6),
    )


def _edges(case: Case, source: Source, shapes: Shapes) -> Matrices:
    """Nothing but zeros and the borders between the sorts of numbers."""
    drawn: list[Array] = []
    for kind, shape in zip(case.kinds[1:], (shapes.a, shapes.b, shapes.c), strict=True):
        table = np.array(finite_edges(FLOATS[kind]), np.uint64).astype(f"u{FLOATS[kind].bits // 8}")
        drawn.append(table[source.below(len(table), *shape)])
    return drawn[0], drawn[1], drawn[2]


def power_of_two(of: Float, exponent: Array) -> Array:
    """As raw bits; 0 where the format has none that small."""
    field = np.maximum(exponent + of.bias, 0)
    shift = of.fraction_bits - np.maximum(1 - of.bias - exponent, 0)  # of a subnormal's only bit
    subnormal = np.where(shift >= 0, 1 << np.maximum(shift, 0), 0)
    raw = np.where(field > 0, field << of.fraction_bits, subnormal)
    return (raw << of.unread).astype(np.uint64).astype(f"u{of.bits // 8}")


def _vanishing(case: Case, source: Source, shapes: Shapes) -> Matrices:
    """One product at the end of the accumulator's range, and one more from there on downward, of either sign.

    That end is a float's last bit, or halfway to it in a half: what is too small to be added shows.
    """
    of_a, of_b = FLOATS[case.kinds[1]], FLOATS[case.kinds[2]]
    total = FLOATS[case.kinds[0]]
    end = 1 - total.bias - total.fraction_bits - (1 if case.kinds[0] == "f16" else 0)
    least = 2 - of_a.bias - of_a.fraction_bits - of_b.bias - of_b.fraction_bits
    end = max(end, least + 10)
    a, b = (np.zeros(shape, f"u{of.bits // 8}") for shape, of in ((shapes.a, of_a), (shapes.b, of_b)))
    c = np.zeros(shapes.c, f"u{FLOATS[case.kinds[3]].bits // 8}")
    sign = a.dtype.type(1 << of_a.bits - 1)
    for tile in range(len(a)):
        first = tile % case.k
        second = (first + 1 + tile // case.k) % case.k
        a[tile, :, :, first] = power_of_two(of_a, np.array((end + 1) // 2))
        b[tile, :, first, :] = power_of_two(of_b, np.array(end // 2))
        falling_a = power_of_two(of_a, (end + 1) // 2 - np.arange(case.m) % 13)
        a[tile, :, :, second] = np.where(source.chance(2, case.m), falling_a, falling_a | sign)
        b[tile, :, second, :] = power_of_two(of_b, end // 2 - (np.arange(case.n) + tile) % 12)
    return a, b, c


RECIPES: dict[str, Callable[[Case, Source, Shapes], Matrices]] = {
    "near": _near,
    "wide": _wide,
    "finite": _finite,
    "bits": _bits,
    "sparse": _sparse,
    "cancelling": _cancelling,
    "tiny": _tiny,
    "huge": _huge,
    "special": _special,
    "edges": _edges,
    "vanishing": _vanishing,
}


def float_tiles(case: Case, recipe: str, tiles: int, seed: int = 0) -> Matrices:
    """Matrices of raw elements, (tile, product, rows, columns)."""
    source = Source(case.opcode, recipe, seed)
    many = (tiles, case.products)
    shapes = Shapes((*many, case.m, case.k), (*many, case.k, case.n), (*many, case.m, case.n))
    a, b, c = RECIPES[recipe](case, source, shapes)
    sign = c.dtype.type(1 << FLOATS[case.kinds[3]].bits - 1)
    c[::4] &= sign  # zeros of either sign in a quarter of the tiles
    return a, b, c


def integer_tiles(case: Case, tiles: int, seed: int = 0) -> list[Array]:
    """Registers of A, B and C with any bits; in half of the tiles C is at the ends of its range."""
    source = Source(case.opcode, seed)
    registers: list[Array] = []
    for role in (1, 2, 3):
        words = source.words(tiles, case.registers[role], 32).astype(np.uint32)
        if role == 3:
            ends = np.where(words & 1 == 0, np.uint32(0x7FFFFFFF), np.uint32(0x80000000))
            words[1::2] = (ends + (words >> np.uint32(20)) - np.uint32(2048))[1::2]
        registers.append(words)
    return registers


def inputs(case: Case, tiles: int, seed: int = 0) -> list[Array]:
    """The registers of A, B and C of that many tiles of each recipe."""
    if not case.is_float:
        return integer_tiles(case, tiles, seed)
    drawn = [float_tiles(case, recipe, tiles, seed) for recipe in RECIPES]
    return [
        np.concatenate([pack(case, role, matrices[role - 1]) for matrices in drawn]) for role in (1, 2, 3)
    ]
