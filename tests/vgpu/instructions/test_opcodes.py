"""The scalar instructions that nvcc and Triton were seen to write: none is refused."""

from __future__ import annotations

import re

import pytest

from flashpath.vgpu.device import UnsupportedInstruction, VirtualKernel, VirtualModule

SEEN = tuple(
    re.findall(
        r"\S+",
        """
abs.f32 add.s32 add.s64 add.f32 add.u64 and.b32 and.pred and.b64 bfe.u32 bfe.s32 bfi.b64 bfi.b32
copysign.f32 cvt.s64.s32 cvt.rn.f16x2.f32 cvt.u64.u32 cvt.f32.f16 cvt.u32.u64 cvt.rn.f32.s32
cvt.rn.f16.f32 cvt.rn.bf16.f32 cvt.u16.u32 cvt.u32.u16 cvt.sat.f32.f32 cvt.rni.s32.f32
cvt.rn.f64.s64 cvt.rn.f32.f64 cvt.f64.f32 cvt.rn.satfinite.e4m3x2.f32 cvt.rn.satfinite.e5m2x2.f32
cvta.to.global.u64 cvta.global.u64 div.full.f32 div.rn.f32 ex2.approx.ftz.f32 ex2.approx.f32
fma.rn.f32 fma.rm.f32 mad.lo.s32 mad.wide.s32 mad.wide.u32 max.f32 max.s32 mov.b32 mov.f32 mov.u32
mov.u64 mov.pred mov.u16 mov.b64 mul.f32 mul.wide.s32 mul.lo.s64 mul.lo.s32 mul.wide.u32 mul.rn.f32
mul.wide.u16 mul.f64 neg.f32 neg.s32 not.pred not.b32 or.b32 or.b64 or.pred popc.b32
rcp.approx.ftz.f32 rcp.rn.f32 rsqrt.approx.f32 rsqrt.approx.ftz.f32 selp.b32 selp.f32 selp.b64
setp.lt.s32 setp.gt.s32 setp.ge.s32 setp.eq.s32 setp.eq.b32 setp.lt.u32 setp.lt.s64 setp.ne.s32
setp.gt.u64 setp.ge.f32 setp.ge.u32 setp.lt.u64 setp.ltu.f32 setp.eq.f32 setp.ne.s64 setp.eq.s64
setp.lt.f32 setp.gt.u32 shl.b32 shl.b64 shr.s32 shr.u32 shr.u64 sqrt.rn.f32 sub.s32 sub.f32 sub.s16
xor.b32
""",
    )
)

UNARY = {"abs", "neg", "not", "mov", "rcp", "sqrt", "rsqrt", "ex2"}
TERNARY = {"fma", "mad"}


def register(kind: str, number: int) -> str:
    """A register of that width: %r0 is of 32 bits, %d0 of 64, %h0 of 16, %p0 a predicate."""
    if kind == "pred":
        return f"%p{number}"
    if kind.endswith("x2"):
        return f"%{'h' if kind.startswith('e') else 'r'}{number}"
    bits = int(re.sub(r"\D", "", kind))
    return f"%{ {16: 'h', 32: 'r', 64: 'd'}[bits] }{number}"


def operands(name: str) -> list[str]:
    opcode, *modifiers = name.split(".")
    kind = modifiers[-1]
    if opcode == "cvt":
        count = 2 if modifiers[-2].endswith("x2") else 1
        return [register(modifiers[-2], 0), *(register(kind, k + 1) for k in range(count))]
    if opcode == "setp":
        return ["%p0", register(kind, 1), register(kind, 2)]
    if opcode == "selp":
        return [*(register(kind, k) for k in range(3)), "%p0"]
    if opcode in ("shl", "shr"):
        return [register(kind, 0), register(kind, 1), "%r2"]
    if opcode in ("bfe", "bfi"):
        return [*(register(kind, k) for k in range(2 if opcode == "bfe" else 3)), "%r3", "%r4"]
    if opcode in ("popc", "cvta"):
        return [register(kind, 0), register(kind, 1)]
    if "wide" in modifiers:
        wide = f"u{2 * int(kind[1:])}"
        made = [register(wide, 0), register(kind, 1), register(kind, 2)]
        return [*made, register(wide, 3)] if opcode == "mad" else made
    count = 1 if opcode in UNARY else 3 if opcode in TERNARY else 2
    return [register(kind, k) for k in range(1 + count)]


def lower(instruction: str) -> VirtualKernel:
    return VirtualModule(
        ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k() {\n"
        ".reg .pred %p<5>; .reg .b16 %h<5>; .reg .b32 %r<5>; .reg .b64 %d<5>;\n"
        f"{instruction}\nret;\n}}\n"
    ).kernel("k")


@pytest.mark.parametrize("name", SEEN)
def test_is_known(name: str) -> None:
    assert lower(f"{name} {', '.join(operands(name))};").program.origins[0][0] == name


@pytest.mark.parametrize(
    "text",
    [
        "max.f32 %r0, %r1, %r2, %r3;",
        "add.f32x2 %d0, %d1, %d2;",
        "add.rn.f32.f16 %r0, %h1, %r2;",
        "cvt.rs.f16x2.f32 %r0, %r1, %r2, %r3;",
        "fma.rn.oob.f16 %h0, %h1, %h2, %h3;",
        "sub.u16x2 %r0, %r1, %r2;",
        "mov.b32 %r0, %r1.x;",
    ],
)
def test_what_is_not_known_is_refused_by_name(text: str) -> None:
    with pytest.raises(UnsupportedInstruction, match=re.escape(text.split()[0])):
        lower(text)
