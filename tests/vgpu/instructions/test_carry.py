"""Extended precision: sums, differences and products of many words, against Python's integers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from .harness import Case, Model, check, integers, scalar


@pytest.mark.parametrize("bits", [32, 64])
def test_one_carry(bits: int) -> None:
    """The carry out of each operation, and both of its values going in."""
    unsigned: Any = np.dtype(f"u{bits // 8}").type
    a, b, c = (integers(unsigned, seed) for seed in (1, 2, 3))
    edge = np.where(np.arange(len(a)) % 3 == 0, ~a, b)  # sums of all ones: the carry in decides
    full = 2**bits
    carry_in = (np.arange(len(a)) % 2).astype(unsigned)
    set_carry = f"add.cc.u{bits} %d, %e, -1;"  # 1 + all ones carries, 0 + all ones does not
    get_carry = f"addc.u{bits} %d, 0, 0;"
    cases: list[tuple[Case, Model]] = []

    def add(text: str, model: Callable[[int, int, int, int, bool], int]) -> None:
        for sign in "us":
            kind = text.replace("T", f"{sign}{bits}")
            value = Case(f"{set_carry} {kind}", unsigned, a, edge, c, carry_in)
            carry = Case(f"{set_carry} {kind} {get_carry}", unsigned, a, edge, c, carry_in)

            def whole(x: int, y: int, z: int, n: int, signed: bool = sign == "s") -> int:
                return model(x, y, z, n, signed)

            cases.append((value, scalar(lambda x, y, z, n, f=whole: f(x, y, z, n) % full)))
            if ".cc" in kind:
                cases.append((carry, scalar(lambda x, y, z, n, f=whole: f(x, y, z, n) // full % 2)))

    def upper(x: int, y: int, signed: bool) -> int:
        if signed:
            x, y = ((v - full if v >= full // 2 else v) for v in (x, y))
        return (x * y >> bits) % full

    add("add.cc.T %d, %a, %b;", lambda x, y, z, n, s: x + y)
    add("addc.T %d, %a, %b;", lambda x, y, z, n, s: x + y + n)
    add("addc.cc.T %d, %a, %b;", lambda x, y, z, n, s: x + y + n)
    add(
        "sub.cc.T %d, %a, %b;", lambda x, y, z, n, s: x + full - y
    )  # hardware carries where nothing is borrowed
    add("mad.lo.cc.T %d, %a, %b, %c;", lambda x, y, z, n, s: x * y % full + z)
    add("madc.lo.T %d, %a, %b, %c;", lambda x, y, z, n, s: x * y + z + n)
    add("madc.lo.cc.T %d, %a, %b, %c;", lambda x, y, z, n, s: x * y % full + z + n)
    add("mad.hi.cc.T %d, %a, %b, %c;", lambda x, y, z, n, s: upper(x, y, s) + z)
    add("madc.hi.T %d, %a, %b, %c;", lambda x, y, z, n, s: upper(x, y, s) + z + n)
    add("madc.hi.cc.T %d, %a, %b, %c;", lambda x, y, z, n, s: upper(x, y, s) + z + n)
    # A borrow is made by 0 - 1: sub.cc of what add.cc would have carried.
    borrow = f"sub.cc.u{bits} %d, 0, %e;"
    for text in (f"subc.u{bits} %d, %a, %b;", f"subc.cc.s{bits} %d, %a, %b;"):
        case = Case(f"{borrow} {text}", unsigned, a, edge, c, carry_in)
        cases.append((case, scalar(lambda x, y, z, n: (x - y - n) % full)))
    twice = Case(
        f"{borrow} subc.cc.u{bits} %d, %a, %b; subc.u{bits} %d, 0, 0;", unsigned, a, edge, c, carry_in
    )
    cases.append((twice, scalar(lambda x, y, z, n: -(x - y - n < 0) % full)))
    check(cases)


def test_sums_of_many_words() -> None:
    """256 bits added and subtracted word by word, and 64 bits squared from 32-bit halves."""
    words = [integers(np.uint32, seed) for seed in range(6)]

    def number(*parts: int) -> int:
        return sum(part << 32 * k for k, part in enumerate(parts))

    def third(operation: Callable[[int, int], int]) -> Model:
        def model(*words: int) -> int:
            return operation(number(*words[:3]), number(*words[3:])) >> 64 & 0xFFFFFFFF

        return scalar(model)

    add = "add.cc.u32 %x, %a, %e; addc.cc.u32 %x, %b, %f; addc.u32 %d, %c, %g;"
    sub = "sub.cc.u32 %x, %a, %e; subc.cc.u32 %x, %b, %f; subc.u32 %d, %c, %g;"
    square = (
        "mul.lo.u32 %x, %a, %e; mul.hi.u32 %y, %a, %e; mad.lo.cc.u32 %y, %a, %f, %y;"
        "madc.hi.u32 %d, %a, %f, 0; mad.lo.cc.u32 %y, %b, %e, %y; "
        "madc.hi.cc.u32 %d, %b, %e, %d; mad.lo.u32 %d, %b, %f, %d;"
    )
    check(
        [
            (Case(add, np.uint32, *words), third(lambda x, y: x + y)),
            (Case(sub, np.uint32, *words), third(lambda x, y: x - y)),
            (
                Case(square, np.uint32, *words),
                scalar(lambda a, b, c, e, f, g: number(a, b) * number(e, f) >> 64 & 0xFFFFFFFF),
            ),
        ]
    )


def test_lanes_that_do_not_run_keep_their_carry() -> None:
    a = integers(np.uint32, 7)
    guarded = "setp.lt.u32 %p, %a, 1000; add.cc.u32 %x, %a, -1; @%p add.cc.u32 %x, 0, 0; addc.u32 %d, 0, 0;"
    check([(Case(guarded, np.uint32, a), scalar(lambda x: 0 if x < 1000 or x == 0 else 1))])
