"""The video instructions, on parts of registers and on all of them at once, against Python's integers."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from .harness import Case, Model, check, integers, scalar

PARTS = {
    "": (0, 32),
    ".b0": (0, 8),
    ".b1": (8, 8),
    ".b2": (16, 8),
    ".b3": (24, 8),
    ".h0": (0, 16),
    ".h1": (16, 16),
}
Names = tuple[str, ...]
Amount = Callable[[int], int]
Operation = Callable[[int, int], int]
OPERATIONS: dict[str, Operation] = {
    "vadd": lambda x, y: x + y,
    "vsub": lambda x, y: x - y,
    "vabsdiff": lambda x, y: abs(x - y),
    "vmin": min,
    "vmax": max,
    "vavrg": lambda x, y: (x + y + (x + y >= 0)) >> 1,
}
RELATIONS: dict[str, Operation] = {
    "eq": lambda x, y: x == y,
    "ne": lambda x, y: x != y,
    "lt": lambda x, y: x < y,
    "le": lambda x, y: x <= y,
    "gt": lambda x, y: x > y,
    "ge": lambda x, y: x >= y,
}
SECOND: dict[str, Operation] = {
    "": lambda x, _: x,
    ".add": lambda x, y: x + y,
    ".min": min,
    ".max": max,
}
LIMITS: dict[str, Amount] = {"clamp": lambda n: min(n, 32), "wrap": lambda n: n % 32}
SHIFTS: dict[str, Operation] = {"vshl": lambda x, n: x << n, "vshr": lambda x, n: x >> n}
A, B, C = (integers(np.uint32, seed) for seed in (1, 2, 3))


def part(word: int, place: tuple[int, int], kind: str) -> int:
    position, length = place
    value = word >> position & (2**length - 1)
    return value - 2**length if kind == "s32" and value >> (length - 1) else value


def clamped(value: int, length: int, kind: str) -> int:
    low = -(2 ** (length - 1)) if kind == "s32" else 0
    return min(max(value, low), low + 2**length - 1)


def merged(value: int, place: tuple[int, int], word: int) -> int:
    position, length = place
    field = (2**length - 1) << position
    return word & ~field | value << position & field


@pytest.mark.parametrize("name", ["vadd", "vsub", "vabsdiff", "vmin", "vmax"])
def test_parts_of_registers(name: str) -> None:
    cases: list[tuple[Case, Model]] = []
    selectors = itertools.cycle(itertools.product(PARTS, PARTS, ("", ".b2", ".h1")))
    for d_kind, a_kind, b_kind in itertools.product(("u32", "s32"), repeat=3):
        for sat in ("", ".sat"):
            for second in SECOND:
                asel, bsel, dsel = next(selectors)
                dsel = "" if second else dsel

                def model(
                    x: int,
                    y: int,
                    z: int,
                    kinds: Names = (d_kind, a_kind, b_kind),
                    sat: str = sat,
                    second: str = second,
                    sel: Names = (dsel, asel, bsel),
                ) -> int:
                    value = OPERATIONS[name](
                        part(x, PARTS[sel[1]], kinds[1]), part(y, PARTS[sel[2]], kinds[2])
                    )
                    if sat:
                        value = clamped(value, PARTS[sel[0]][1], kinds[0])
                    if sel[0]:
                        return merged(value, PARTS[sel[0]], z)
                    whole = PARTS[""]
                    return (
                        SECOND[second](part(value % 2**32, whole, kinds[0]), part(z, whole, kinds[0])) % 2**32
                    )

                operands = f"%d{dsel}, %a{asel}, %b{bsel}" + (", %c" if second or dsel else "")
                text = f"{name}.{d_kind}.{a_kind}.{b_kind}{sat}{second} {operands};"
                cases.append((Case(text, np.uint32, A, B, C), scalar(model)))
    check(cases)


def test_shifts_comparisons_and_products() -> None:
    amounts = B % np.uint32(40)
    cases: list[tuple[Case, Model]] = []
    for a_kind in ("u32", "s32"):
        for mode, limit in LIMITS.items():
            for name, shift in SHIFTS.items():
                text = f"{name}.{a_kind}.{a_kind}.u32.{mode} %d, %a.h1, %b;"

                def model(x: int, n: int, f: Amount = limit, g: Operation = shift, k: str = a_kind) -> int:
                    return g(part(x, PARTS[".h1"], k), f(n))

                cases.append((Case(text, np.uint32, A, amounts), scalar(model)))
        for relation, holds in RELATIONS.items():
            for second in SECOND:
                text = f"vset.{a_kind}.s32.{relation}{second} %d, %a.b3, %b.h0{', %c' if second else ''};"

                def compared(
                    x: int, y: int, z: int, f: Operation = holds, k: str = a_kind, s: str = second
                ) -> int:
                    value = int(f(part(x, PARTS[".b3"], k), part(y, PARTS[".h0"], "s32")))
                    return SECOND[s](value, z) % 2**32

                cases.append((Case(text, np.uint32, A, B, C), scalar(compared)))
        for b_kind, suffix, scale in itertools.product(
            ("u32", "s32"), ("", ".sat", ".po", ".po.sat"), (0, 7, 15)
        ):
            signed = "s32" if "s32" in (a_kind, b_kind) else "u32"
            places = (PARTS[""], PARTS[""]) if scale == 0 else (PARTS[".h0"], PARTS[".b1"])
            selected = "%a, %b" if scale == 0 else "%a.h0, %b.b1"
            scaled = f".shr{scale}" if scale else ""
            text = f"vmad.{signed}.{a_kind}.{b_kind}{suffix}{scaled} %d, {selected}, %c;"

            def product(
                x: int,
                y: int,
                z: int,
                k: Names = (a_kind, b_kind, signed),
                p: Any = places,
                s: str = suffix,
                n: int = scale,
            ) -> int:
                value = part(x, p[0], k[0]) * part(y, p[1], k[1]) + part(z, PARTS[""], k[2]) + (".po" in s)
                value >>= n
                return clamped(value, 32, k[2]) if "sat" in s else value

            cases.append((Case(text, np.uint32, A, B, C), scalar(product)))
    check(cases)


@pytest.mark.parametrize("count", [2, 4])
def test_all_parts_at_once(count: int) -> None:
    length = 32 // count
    places = [(k * length, length) for k in range(count)]
    cases: list[tuple[Case, Model]] = []
    for d_kind, a_kind, b_kind in itertools.product(("u32", "s32"), repeat=3):
        for name, function in OPERATIONS.items():
            for suffix in ("", ".sat", ".add"):

                def model(
                    x: int,
                    y: int,
                    z: int,
                    k: Names = (d_kind, a_kind, b_kind),
                    f: Operation = function,
                    s: str = suffix,
                ) -> int:
                    values = [f(part(x, p, k[1]), part(y, p, k[2])) for p in places]
                    if s == ".add":
                        return z + sum(values)
                    if s == ".sat":
                        values = [clamped(value, length, k[0]) for value in values]
                    return sum(value % 2**length << p[0] for value, p in zip(values, places, strict=True))

                text = f"{name}{count}.{d_kind}.{a_kind}.{b_kind}{suffix} %d, %a, %b, %c;"
                cases.append((Case(text, np.uint32, A, B, C), scalar(model)))
        for relation, holds in RELATIONS.items() if d_kind == "u32" else ():
            for suffix in ("", ".add"):

                def compared(
                    x: int, y: int, z: int, k: Names = (a_kind, b_kind), f: Operation = holds, s: str = suffix
                ) -> int:
                    values = [int(f(part(x, p, k[0]), part(y, p, k[1]))) for p in places]
                    if s:
                        return z + sum(values)
                    return sum(value << p[0] for value, p in zip(values, places, strict=True))

                text = f"vset{count}.{a_kind}.{b_kind}.{relation}{suffix} %d, %a, %b, %c;"
                cases.append((Case(text, np.uint32, A, B, C), scalar(compared)))
    check(cases)
