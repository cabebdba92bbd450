"""mov between registers and vectors, and the spaces of generic addresses."""

from __future__ import annotations

from typing import Any

import numpy as np

from .harness import Array, Case, Model, check, integers


def test_vectors() -> None:
    w = integers(np.uint64, 1)
    r = integers(np.uint32, 2)
    h = integers(np.uint16, 3)

    def part(dtype: Any, index: int) -> Model:
        return lambda x: x.view(dtype).reshape(len(x), -1)[:, index]

    cases: list[tuple[Case, Model]] = []
    for k in range(4):
        names = ["_", "_", "_", "_"]
        names[k] = "%h"
        pattern = ", ".join(names)
        cases.append((Case(f"mov.b64 {{{pattern}}}, %a; mov.b16 %d, %h;", np.uint16, w), part(np.uint16, k)))
        bytes_ = f".reg .b8 %b<4>; mov.b32 {{%b0, %b1, %b2, %b3}}, %a; cvt.u16.u8 %d, %b{k};"
        cases.append((Case(bytes_, np.uint16, r), part(np.uint8, k)))
    for k, name in enumerate(("%x", "%y")):
        cases.append((Case(f"mov.b64 {{%x, %y}}, %a; mov.b32 %d, {name};", np.uint32, w), part(np.uint32, k)))
    for k, name in enumerate(("%h", "%k")):
        cases.append((Case(f"mov.b32 {{%h, %k}}, %a; mov.b16 %d, {name};", np.uint16, r), part(np.uint16, k)))
    for k, name in enumerate(("%b0", "%b1")):
        text = f".reg .b8 %b<2>; mov.b16 {{%b0, %b1}}, %a; cvt.u16.u8 %d, {name};"
        cases.append((Case(text, np.uint16, h), part(np.uint8, k)))
    other = integers(np.uint64, 4)
    words = integers(np.uint32, 5)

    def swapped(x: Array) -> Array:
        return x.view(np.uint16).reshape(-1, 4)[:, ::-1].copy().view(np.uint64).ravel()

    cases.extend(
        [
            (
                Case(
                    ".reg .b16 %z<4>; mov.b64 {%z0, %z1, %z2, %z3}, %a; mov.b64 %d, {%z3, %z2, %z1, %z0};",
                    np.uint64,
                    w,
                ),
                swapped,
            ),
            (
                Case(
                    ".reg .b8 %b<4>; mov.b32 {%b0, %b1, %b2, %b3}, %a; mov.b32 %d, {%b3, %b2, %b1, %b0};",
                    np.uint32,
                    r,
                ),
                lambda x: x.byteswap(),
            ),
            (Case("mov.b32 {%h, %k}, %a; mov.b32 %d, {%k, %h};", np.uint32, r), lambda x: x << 16 | x >> 16),
            (
                Case("mov.b64 {%x, %y}, %a; mov.b64 %d, {%y, %x};", np.uint64, w),
                lambda x: x << np.uint64(32) | x >> np.uint64(32),
            ),
            (
                Case(".reg .b8 %b<2>; mov.b16 {%b0, %b1}, %a; mov.b16 %d, {%b1, %b0};", np.uint16, h),
                lambda x: x.byteswap(),
            ),
            (
                Case(
                    ".reg .b128 %q0, %q1; mov.b128 %q0, {%a, %b}; mov.b128 %q1, %q0; mov.b128 {%v, %d}, %q1;",
                    np.uint64,
                    w,
                    other,
                ),
                lambda x, y: y,
            ),
            (
                Case(
                    ".reg .b128 %q0; mov.b128 %q0, {%a, %b, %a, %b}; mov.b128 {%v, %w}, %q0;"
                    "sub.u64 %d, %w, %v; mov.b64 %v, {%a, %b}; xor.b64 %d, %w, %d;",
                    np.uint64,
                    r,
                    words,
                ),
                lambda x, y: x.astype(np.uint64) | y.astype(np.uint64) << np.uint64(32),
            ),
        ]
    )
    check(cases)


def test_spaces_of_addresses() -> None:
    spaces = ("global", "shared", "local", "const", "shared::cta", "param")
    a = integers(np.uint32, 6)
    cases: list[tuple[Case, Model]] = []
    declared = {
        "shared": ".shared .b32 s{0};  mov.u64 %v, s{0}; cvta.shared.u64 %w, %v;",
        "local": ".local .b32 s{0}; mov.u64 %v, s{0}; cvta.local.u64 %w, %v;",
        "global": "mov.u64 %w, %at;",
    }
    for where, make in declared.items():
        for asked in spaces:
            inside = asked == where or (asked, where) == ("shared::cta", "shared")
            text = f"{make.format(len(cases))} isspacep.{asked} %p, %w; selp.u32 %d, 1, 0, %p;"
            cases.append((Case(text, np.uint32, a), lambda x, i=inside: np.full(len(x), i)))
    # There and back.
    for where in ("shared", "local", "global", "const"):
        back = f"cvt.u64.u32 %v, %a; cvta.{where}.u64 %w, %v; cvta.to.{where}.u64 %w, %w; cvt.u32.u64 %d, %w;"
        cases.append((Case(back, np.uint32, a), lambda x: x))
    # A generic address is good for an access.
    access = (
        ".shared .b32 t[256]; .reg .b64 %at2; mov.u64 %v, t; cvta.shared.u64 %v, %v; and.b32 %x, %t, 255;"
    )
    access += "mad.wide.u32 %at2, %x, 4, %v; st.u32 [%at2], %a; mul.lo.u32 %x, %x, 4; mov.u32 %y, t;"
    access += "add.u32 %y, %y, %x; ld.shared.u32 %d, [%y];"
    cases.append((Case(access, np.uint32, a), lambda x: x))
    check(cases)
