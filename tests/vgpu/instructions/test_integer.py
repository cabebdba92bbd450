"""Integer arithmetic, dot products, bits and permutations, against Python's integers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from .harness import Array, Case, Model, check, integers, scalar

TYPES = {
    "u16": np.uint16,
    "s16": np.int16,
    "u32": np.uint32,
    "s32": np.int32,
    "u64": np.uint64,
    "s64": np.int64,
}
WIDE = {"u16": np.uint32, "s16": np.int32, "u32": np.uint64, "s32": np.int64}


def wrapped(value: int, dtype: Any) -> int:
    limits = np.iinfo(dtype)
    return (value - int(limits.min)) % 2**limits.bits + int(limits.min)


def clamped(value: int, bits: int, signed: bool) -> int:
    low = -(2 ** (bits - 1)) if signed else 0
    return min(max(value, low), low + 2**bits - 1)


def quotient(x: int, y: int) -> int:
    return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


@pytest.mark.parametrize("kind", TYPES)
def test_arithmetic(kind: str) -> None:
    dtype: Any = TYPES[kind]
    bits = np.iinfo(dtype).bits
    a, b, c = integers(dtype, 1), integers(dtype, 2), integers(dtype, 3)
    divisor = np.where(b == 0, dtype(3), b)
    cases: list[tuple[Case, Model]] = []

    def add(text: str, model: Model, *inputs: Array, result: Any = dtype) -> None:
        cases.append((Case(text, result, *inputs), scalar(model)))

    add(f"add.{kind} %d, %a, %b;", lambda x, y: x + y, a, b)
    add(f"sub.{kind} %d, %a, %b;", lambda x, y: x - y, a, b)
    add(f"mul.lo.{kind} %d, %a, %b;", lambda x, y: x * y, a, b)
    add(f"mul.hi.{kind} %d, %a, %b;", lambda x, y: x * y >> bits, a, b)
    add(f"mad.lo.{kind} %d, %a, %b, %c;", lambda x, y, z: x * y + z, a, b, c)
    add(f"mad.hi.{kind} %d, %a, %b, %c;", lambda x, y, z: (x * y >> bits) + z, a, b, c)
    add(f"sad.{kind} %d, %a, %b, %c;", lambda x, y, z: abs(x - y) + z, a, b, c)
    add(f"div.{kind} %d, %a, %b;", quotient, a, divisor)
    add(f"rem.{kind} %d, %a, %b;", lambda x, y: x - y * quotient(x, y), a, divisor)
    add(f"min.{kind} %d, %a, %b;", min, a, b)
    add(f"max.{kind} %d, %a, %b;", max, a, b)
    if kind in WIDE:
        wide = integers(WIDE[kind], 4)
        add(f"mul.wide.{kind} %d, %a, %b;", lambda x, y: x * y, a, b, result=WIDE[kind])
        add(f"mad.wide.{kind} %d, %a, %b, %c;", lambda x, y, z: x * y + z, a, b, wide, result=WIDE[kind])
    if kind.startswith("s"):
        add(f"abs.{kind} %d, %a;", abs, a)
        add(f"neg.{kind} %d, %a;", lambda x: -x, a)
    check(cases)


def test_division_by_zero() -> None:
    """All ones, as an H200 gives it; PTX leaves it open."""
    a = integers(np.uint32, 26)
    zero = np.zeros_like(a)
    check(
        [
            (Case(f"{name}.{kind} %d, %a, %b;", np.uint32, a, zero), lambda x, y: ~y)
            for name in ("div", "rem")
            for kind in ("u32", "s32")
        ]
    )


def test_saturation_and_24_bits() -> None:
    a, b, c = integers(np.int32, 5), integers(np.int32, 6), integers(np.int32, 7)
    u, v, w = a.view(np.uint32), b.view(np.uint32), c.view(np.uint32)

    def low24(x: int, signed: bool) -> int:
        x %= 2**24
        return x - 2**24 if signed and x >= 2**23 else x

    def limited(value: int) -> int:
        return clamped(value, 32, True)

    cases = [
        (Case("add.sat.s32 %d, %a, %b;", np.int32, a, b), scalar(lambda x, y: limited(x + y))),
        (Case("sub.sat.s32 %d, %a, %b;", np.int32, a, b), scalar(lambda x, y: limited(x - y))),
        (
            Case("mad.hi.sat.s32 %d, %a, %b, %c;", np.int32, a, b, c),
            scalar(lambda x, y, z: limited((x * y >> 32) + z)),
        ),
        (
            Case("mad24.hi.sat.s32 %d, %a, %b, %c;", np.int32, a, b, c),
            scalar(lambda x, y, z: limited((low24(x, True) * low24(y, True) >> 16) + z)),
        ),
        (Case("min.relu.s32 %d, %a, %b;", np.int32, a, b), scalar(lambda x, y: max(min(x, y), 0))),
        (Case("max.s32.relu %d, %a, %b;", np.int32, a, b), scalar(lambda x, y: max(x, y, 0))),
    ]
    for kind, (x, y, z) in {"u32": (u, v, w), "s32": (a, b, c)}.items():
        signed = kind == "s32"
        for half, shift in (("lo", 0), ("hi", 16)):
            cases.extend(
                [
                    (
                        Case(f"mul24.{half}.{kind} %d, %a, %b;", x.dtype, x, y),
                        scalar(lambda x, y, s=signed, n=shift: low24(x, s) * low24(y, s) >> n),
                    ),
                    (
                        Case(f"mad24.{half}.{kind} %d, %a, %b, %c;", x.dtype, x, y, z),
                        scalar(lambda x, y, z, s=signed, n=shift: (low24(x, s) * low24(y, s) >> n) + z),
                    ),
                ]
            )
    check(cases)


def test_pairs_of_16_bits() -> None:
    a, b = integers(np.uint32, 8), integers(np.uint32, 9)

    def halves(function: Callable[[Array, Array], Array], dtype: Any) -> Model:
        return lambda x, y: function(x.view(dtype), y.view(dtype)).astype(dtype).view(np.uint32)

    cases: list[tuple[Case, Model]] = []
    for kind, dtype in (("u16x2", np.uint16), ("s16x2", np.int16)):
        for name, function in (("add", np.add), ("min", np.minimum), ("max", np.maximum)):
            cases.append((Case(f"{name}.{kind} %d, %a, %b;", np.uint32, a, b), halves(function, dtype)))
    for name, function in (("min", np.minimum), ("max", np.maximum)):
        model = halves(lambda x, y, f=function: np.maximum(f(x, y), 0), np.int16)
        cases.append((Case(f"{name}.s16x2.relu %d, %a, %b;", np.uint32, a, b), model))
    check(cases)


def test_dot_products() -> None:
    a, b, c = integers(np.uint32, 10), integers(np.uint32, 11), integers(np.uint32, 12)

    def parts(word: Array, signed: bool, bits: int) -> Array:
        return word.view(f"{'i' if signed else 'u'}{bits // 8}").reshape(len(word), -1).astype(np.int64)

    cases: list[tuple[Case, Model]] = []
    for x_kind in ("u32", "s32"):
        for y_kind in ("u32", "s32"):
            sx, sy = x_kind == "s32", y_kind == "s32"
            kinds = f"{x_kind}.{y_kind} %d, %a, %b, %c;"
            cases.append(
                (
                    Case(f"dp4a.{kinds}", np.uint32, a, b, c),
                    lambda x, y, z, sx=sx, sy=sy: (parts(x, sx, 8) * parts(y, sy, 8)).sum(1) + z,
                )
            )
            for half, first in (("lo", 0), ("hi", 2)):
                cases.append(
                    (
                        Case(f"dp2a.{half}.{kinds}", np.uint32, a, b, c),
                        lambda x, y, z, sx=sx, sy=sy, f=first: (
                            (parts(x, sx, 16) * parts(y, sy, 8)[:, f : f + 2]).sum(1) + z
                        ),
                    )
                )
    check(cases)


# ---- Bits ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bits", [16, 32, 64])
def test_logic_and_shifts(bits: int) -> None:
    unsigned: Any = np.dtype(f"u{bits // 8}").type
    signed: Any = np.dtype(f"i{bits // 8}").type
    a, b = integers(unsigned, 13), integers(unsigned, 14)
    amount = integers(np.uint32, 15)
    s = a.view(signed)
    few = amount % np.uint32(2 * bits)

    def shift_left(x: int, n: int) -> int:
        return x << n if n < bits else 0

    def shift_right(x: int, n: int) -> int:
        return x >> min(n, bits)

    cases: list[tuple[Case, Model]] = [
        (Case(f"and.b{bits} %d, %a, %b;", unsigned, a, b), np.bitwise_and),
        (Case(f"or.b{bits} %d, %a, %b;", unsigned, a, b), np.bitwise_or),
        (Case(f"xor.b{bits} %d, %a, %b;", unsigned, a, b), np.bitwise_xor),
        (Case(f"not.b{bits} %d, %a;", unsigned, a), np.bitwise_not),
        (Case(f"cnot.b{bits} %d, %a;", unsigned, a), lambda x: x == 0),
    ]
    for count in (amount, few):
        cases.extend(
            [
                (Case(f"shl.b{bits} %d, %a, %b;", unsigned, a, count), scalar(shift_left)),
                (Case(f"shr.b{bits} %d, %a, %b;", unsigned, a, count), scalar(shift_right)),
                (Case(f"shr.u{bits} %d, %a, %b;", unsigned, a, count), scalar(shift_right)),
                (Case(f"shr.s{bits} %d, %a, %b;", signed, s, count), scalar(shift_right)),
            ]
        )
    check(cases)


@pytest.mark.parametrize("bits", [32, 64])
def test_counting_and_fields(bits: int) -> None:
    unsigned: Any = np.dtype(f"u{bits // 8}").type
    signed: Any = np.dtype(f"i{bits // 8}").type
    a, b = integers(unsigned, 16), integers(unsigned, 17)
    s = a.view(signed)
    place = integers(np.uint32, 18) % np.uint32(300)
    length = np.random.default_rng(19).permutation(place)

    def highest(x: int) -> int:
        return (x if x >= 0 else ~x).bit_length() - 1

    def extracted(x: int, position: int, count: int, is_signed: bool) -> int:
        position, count = position % 256, count % 256
        if count == 0:
            return 0
        # Beyond the top a signed number goes on with its sign, an unsigned one with zeros.
        field = x >> position & (2**count - 1)
        return field - 2**count if is_signed and field >> (count - 1) else field

    def inserted(x: int, into: int, position: int, count: int) -> int:
        position, count = position % 256, count % 256
        field = (2**count - 1) << position & (2**bits - 1)
        return into & ~field | x << position & field

    def reversed_bits(x: int) -> int:
        return int(f"{x:0{bits}b}"[::-1], 2)

    cases: list[tuple[Case, Model]] = [
        (Case(f"popc.b{bits} %d, %a;", np.uint32, a), scalar(int.bit_count)),
        (Case(f"clz.b{bits} %d, %a;", np.uint32, a), scalar(lambda x: bits - x.bit_length())),
        (Case(f"brev.b{bits} %d, %a;", unsigned, a), scalar(reversed_bits)),
        (
            Case(f"bfe.u{bits} %d, %a, %b, %c;", unsigned, a, place, length),
            scalar(lambda x, p, n: extracted(x, p, n, False)),
        ),
        (
            Case(f"bfe.s{bits} %d, %a, %b, %c;", signed, s, place, length),
            scalar(lambda x, p, n: extracted(x, p, n, True)),
        ),
        (Case(f"bfi.b{bits} %d, %a, %b, %c, %e;", unsigned, a, b, place, length), scalar(inserted)),
    ]
    for kind, x in ((f"u{bits}", a), (f"s{bits}", s)):
        cases.extend(
            [
                (Case(f"bfind.{kind} %d, %a;", np.uint32, x), scalar(highest)),
                (
                    Case(f"bfind.shiftamt.{kind} %d, %a;", np.uint32, x),
                    scalar(lambda x: bits - 1 - highest(x) if highest(x) >= 0 else -1),
                ),
            ]
        )
    check(cases)


def test_masks() -> None:
    a = integers(np.uint32, 20)
    rng = np.random.default_rng(21)
    place = np.where(np.arange(512) < 400, rng.integers(0, 34, 512), integers(np.uint32, 22)).astype(
        np.uint32
    )
    count = rng.permutation(place)
    step = rng.integers(-20, 21, 512).astype(np.int32)

    def nth(x: int, base: int, n: int) -> int:
        if n == 0:
            return base if base < 32 and x >> base & 1 else -1
        places = range(base, 32) if n > 0 else range(base, -1, -1)
        found = [k for k in places if k < 32 and x >> k & 1] if base < 32 else []
        return found[abs(n) - 1] if len(found) >= abs(n) else -1

    def extended(x: int, n: int) -> int:
        kept = x % 2 ** min(n, 32)
        return kept - 2**n if 0 < n < 32 and kept >> (n - 1) else kept

    check(
        [
            (Case("fns.b32 %d, %a, %b, %c;", np.uint32, a, place, step), scalar(nth)),
            (
                Case("bmsk.clamp.b32 %d, %a, %b;", np.uint32, place, count),
                scalar(lambda p, n: (2 ** min(n, 32) - 1) << min(p, 32)),
            ),
            (
                Case("bmsk.wrap.b32 %d, %a, %b;", np.uint32, place, count),
                scalar(lambda p, n: (2 ** (n % 32) - 1) << p % 32),
            ),
            (
                Case("szext.clamp.u32 %d, %a, %b;", np.uint32, a, count),
                scalar(lambda x, n: x % 2 ** min(n, 32)),
            ),
            (Case("szext.wrap.u32 %d, %a, %b;", np.uint32, a, count), scalar(lambda x, n: x % 2 ** (n % 32))),
            (Case("szext.clamp.s32 %d, %a, %b;", np.uint32, a, count), scalar(extended)),
            (
                Case("szext.wrap.s32 %d, %a, %b;", np.uint32, a, count),
                scalar(lambda x, n: extended(x, n % 32)),
            ),
        ]
    )


def test_three_inputs_and_permutations() -> None:
    a, b, c = integers(np.uint32, 23), integers(np.uint32, 24), integers(np.uint32, 25)
    flag = (a & 4).astype(np.uint32)
    cases: list[tuple[Case, Model]] = []

    def function_of(table: int) -> Callable[[Array, Array, Array], Array]:
        def model(x: Array, y: Array, z: Array) -> Array:
            rows = [(x, y, z)[k] for k in range(3)]
            bits = [np.unpackbits(row.view(np.uint8), bitorder="little").astype(int) for row in rows]
            looked_up = table >> (4 * bits[0] + 2 * bits[1] + bits[2]) & 1
            return np.packbits(looked_up.astype(np.uint8), bitorder="little").view(np.uint32)

        return model

    for table in (0x00, 0x80, 0x96, 0xCA, 0xE8, 0x3C, 0x1B, 0xFF):
        cases.append((Case(f"lop3.b32 %d, %a, %b, %c, {table:#x};", np.uint32, a, b, c), function_of(table)))
    join = "setp.ne.u32 %q, %e, 0; lop3.{0}.b32 {1}|%p, %a, %b, %c, {2}, {3}; selp.u32 %d, 1, 0, %p;"
    few = a & 1, b & 1, c & 1
    joins: list[tuple[str, str, Callable[[Array, Array], Array]]] = [
        ("or", "%q", lambda d, q: (d != 0) | (q != 0)),
        ("and", "%q", lambda d, q: (d != 0) & (q != 0)),
        ("or", "!%q", lambda d, q: (d != 0) | (q == 0)),
    ]
    for name, other, combine in joins:
        for to in ("%x", "_"):
            cases.append(
                (
                    Case(join.format(name, to, 0x80, other), np.uint32, *few, flag),
                    lambda x, y, z, q, f=combine: f(function_of(0x80)(x, y, z), q),
                )
            )

    def bytes_of(word: int) -> list[int]:
        return list(word.to_bytes(4, "little"))

    def permuted(x: int, y: int, selector: int) -> int:
        pool = bytes_of(x) + bytes_of(y)
        picked = [selector >> 4 * k & 0xF for k in range(4)]
        return int.from_bytes(
            [pool[n & 7] if n < 8 else (0xFF if pool[n & 7] >= 128 else 0) for n in picked], "little"
        )

    # From the lowest byte of the result to the highest, by the two low bits of the control.
    modes: dict[str, Callable[[int], list[int]]] = {
        "f4e": lambda n: [n, n + 1, n + 2, n + 3],
        "b4e": lambda n: [n, (n - 1) % 8, (n - 2) % 8, (n - 3) % 8],
        "rc8": lambda n: [n] * 4,
        "ecl": lambda n: [max(k, n) for k in range(4)],
        "ecr": lambda n: [min(k, n) for k in range(4)],
        "rc16": lambda n: [2 * (n % 2), 2 * (n % 2) + 1] * 2,
    }
    cases.append((Case("prmt.b32 %d, %a, %b, %c;", np.uint32, a, b, c), scalar(permuted)))
    for mode, places in modes.items():

        def moved(x: int, y: int, n: int, f: Callable[[int], list[int]] = places) -> int:
            pool = bytes_of(x) + bytes_of(y)
            return int.from_bytes([pool[k] for k in f(n % 4)], "little")

        cases.append((Case(f"prmt.b32.{mode} %d, %a, %b, %c;", np.uint32, a, b, c), scalar(moved)))
    amounts = c % np.uint32(40)
    limits: dict[str, Callable[[int], int]] = {"wrap": lambda n: n % 32, "clamp": lambda n: min(n, 32)}
    for mode, limit in limits.items():
        cases.extend(
            [
                (
                    Case(f"shf.l.{mode}.b32 %d, %a, %b, %c;", np.uint32, a, b, amounts),
                    scalar(lambda low, high, n, f=limit: ((high << 32 | low) << f(n)) >> 32),
                ),
                (
                    Case(f"shf.r.{mode}.b32 %d, %a, %b, %c;", np.uint32, a, b, amounts),
                    scalar(lambda low, high, n, f=limit: (high << 32 | low) >> f(n)),
                ),
            ]
        )
    check(cases)
