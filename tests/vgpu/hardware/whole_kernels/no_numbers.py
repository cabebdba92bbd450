"""What arithmetic makes of infinities and of what is no number: one kernel per type, all triples of eight values."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Arithmetic:
    """The operations of a type; each result is stored in as many bytes as the type has."""

    bits: int
    infinity: int
    operations: tuple[str, ...]

    @property
    def values(self) -> list[int]:
        """One and a half, zero, the infinities, quiet NaNs with a payload, signalling ones."""
        sign = 1 << self.bits - 1
        quiet = 1 << (self.infinity & -self.infinity).bit_length() - 2
        payload = 0x5A if self.bits == 16 and quiet > 0x5A else 0x123450 if self.bits > 16 else 0x05
        half = self.infinity >> 1
        number = half - half % (2 * quiet) | quiet
        infinity = self.infinity
        return [number, 0, infinity, sign | infinity, infinity | quiet | payload, sign | infinity | quiet | 3,
                infinity | payload, sign | infinity | 5]  # fmt: skip

    @property
    def triples(self) -> Any:
        return np.array(list(itertools.product(self.values, repeat=3)), f"u{self.bits // 8}")


_BINARY = ("add", "sub", "mul", "min", "max")
_COMMON = (*(f"{name}.TYPE %d, %a, %b;" for name in _BINARY), "fma.rn.TYPE %d, %a, %b, %c;",
           "neg.TYPE %d, %a;", "abs.TYPE %d, %a;",
           "mul.TYPE %m, %a, %b; sub.TYPE %d, %c, %m;", "mul.TYPE %m, %a, %b; sub.TYPE %d, %m, %c;")  # fmt: skip
_WIDE = ("div.rn.TYPE %d, %a, %b;", "sqrt.rn.TYPE %d, %a;", "rcp.rn.TYPE %d, %a;", "add.rz.TYPE %d, %a, %b;")

TYPES = {
    "f32": Arithmetic(32, 0x7F800000, (*_COMMON, *_WIDE, "add.ftz.TYPE %d, %a, %b;", "neg.ftz.TYPE %d, %a;",
                                       "add.sat.TYPE %d, %a, %b;")),
    "f64": Arithmetic(64, 0x7FF0000000000000, (*_COMMON, *_WIDE)),
    "f16": Arithmetic(16, 0x7C00, _COMMON),
    "bf16": Arithmetic(16, 0x7F80, _COMMON),
}  # fmt: skip


def kernel(name: str) -> str:
    """`no_f32(in, out)`: thread i reads the triple i and writes one result per operation."""
    made = TYPES[name]
    size = made.bits // 8
    count = len(made.operations)
    body = "".join(
        f"{{ .reg .b{made.bits} %d, %m; {text} st.global.b{made.bits} [%out + {k * size}], %d; }}\n"
        for k, text in enumerate(made.operations)
    )
    return f"""
.visible .entry no_{name}(.param .u64 from, .param .u64 to) {{
.reg .b64 %in, %out; .reg .b32 %i, %t; .reg .b{made.bits} %a, %b, %c;
ld.param.u64 %in, [from]; ld.param.u64 %out, [to];
mov.u32 %i, %ctaid.x; mov.u32 %t, %tid.x; mad.lo.u32 %i, %i, 128, %t;
mad.wide.u32 %in, %i, {3 * size}, %in; mad.wide.u32 %out, %i, {count * size}, %out;
ld.global.b{made.bits} %a, [%in]; ld.global.b{made.bits} %b, [%in + {size}];
ld.global.b{made.bits} %c, [%in + {2 * size}];
{body.replace("TYPE", name)}ret;
}}
"""


def module() -> str:
    return ".version 8.6\n.target sm_90\n.address_size 64\n" + "".join(kernel(name) for name in TYPES)
