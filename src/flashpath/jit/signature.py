"""What a kernel takes: its parameters' types, sizes and offsets, and which arrays each pointer accepts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from flashpath.jit.mangling import CType
from flashpath.jit.ptx import PtxParameter

Kind = Literal["pointer", "integer", "float", "float16", "bfloat16", "bytes"]

# C++ scalar → (NumPy-style dtype, code of Python's struct module). Codes are little-endian and unpadded.
_SCALARS: dict[str, tuple[str, str]] = {
    "bool": ("bool", "?"),
    "char": ("int8", "b"),
    "signed char": ("int8", "b"),
    "unsigned char": ("uint8", "B"),
    "short": ("int16", "h"),
    "unsigned short": ("uint16", "H"),
    "int": ("int32", "i"),
    "unsigned int": ("uint32", "I"),
    "long": ("int64", "q"),
    "unsigned long": ("uint64", "Q"),
    "long long": ("int64", "q"),
    "unsigned long long": ("uint64", "Q"),
    "float": ("float32", "f"),
    "double": ("float64", "d"),
    "__half": ("float16", "e"),
    "_Float16": ("float16", "e"),
    "__nv_bfloat16": ("bfloat16", "H"),
    "__bf16": ("bfloat16", "H"),
    "__nv_fp8_e4m3": ("float8_e4m3fn", "B"),
    "__nv_fp8_e5m2": ("float8_e5m2", "B"),
}
# Types that stand for several scalars in a row take arrays of that scalar.
_VECTOR = re.compile(r"^(?P<base>u?(?:char|short|int|long|longlong)|float|double)[1-4](?:_\w+)?$")
_VECTOR_BASES = {
    "char": "int8",
    "uchar": "uint8",
    "short": "int16",
    "ushort": "uint16",
    "int": "int32",
    "uint": "uint32",
    "long": "int64",
    "ulong": "uint64",
    "longlong": "int64",
    "ulonglong": "uint64",
    "float": "float32",
    "double": "float64",
}
_PACKED = {"__half2": "float16", "__nv_bfloat162": "bfloat16"}
# NumPy has no bf16 and no fp8 of its own: integers of the same width may stand for them.
_STAND_INS = {
    "bfloat16": ("uint16", "int16"),
    "float8_e4m3fn": ("uint8", "int8"),
    "float8_e5m2": ("uint8", "int8"),
    "int8": ("uint8",),  # plain char is used for bytes of any sign
}
_PTX_CODES = {
    "u8": "B", "s8": "b", "b8": "B", "u16": "H", "s16": "h", "b16": "H", "u32": "I", "s32": "i", "b32": "I",
    "u64": "Q", "s64": "q", "b64": "Q", "f32": "f", "f64": "d",
}  # fmt: skip


@dataclass(frozen=True)
class Parameter:
    """One parameter of a kernel."""

    index: int
    text: str  # its C++ type, or its PTX type where that is all that is known
    kind: Kind
    size: int
    offset: int  # in the kernel's parameter space
    code: str  # of Python's struct module
    dtypes: frozenset[str] | None = None  # for pointers: the array types accepted; None: any
    low: int = 0  # for integers: the values that fit
    high: int = 0

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Signature:
    """All parameters of a kernel."""

    parameters: tuple[Parameter, ...]
    size: int

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.parameters))})"


def make_signature(ptx: Sequence[PtxParameter], types: Sequence[CType] | None) -> Signature:
    """Join what PTX says (sizes, alignments) with what C++ says (what the values mean)."""
    if types is not None and len(types) != len(ptx):
        types = None
    parameters: list[Parameter] = []
    offset = 0
    for index, each in enumerate(ptx):
        offset = -(-offset // each.align) * each.align
        kind = types[index] if types is not None else None
        parameters.append(_parameter(index, each, kind, offset))
        offset += each.size
    return Signature(tuple(parameters), offset)


def _parameter(index: int, ptx: PtxParameter, kind: CType | None, offset: int) -> Parameter:
    text = (
        kind.text if kind else f".{ptx.type}" + (f"[{ptx.size}]" if ptx.type == "b8" and ptx.size > 1 else "")
    )
    if kind is not None and kind.pointee is not None:
        accepted = _accepted(kind.pointee)
        return Parameter(index, text, "pointer", ptx.size, offset, "Q", accepted)
    dtype, code = _SCALARS.get(kind.text.removeprefix("const "), (None, None)) if kind else (None, None)
    if dtype in ("float16", "bfloat16"):
        return Parameter(index, text, "float16" if dtype == "float16" else "bfloat16", ptx.size, offset, "H")
    if code is None or ptx.type == "b8":
        if ptx.type == "b8" and (kind is not None or ptx.size > 1):
            return Parameter(index, text, "bytes", ptx.size, offset, f"{ptx.size}s")
        code = _PTX_CODES[ptx.type]
    if kind is None and ptx.type in ("u64", "b64"):
        # Untyped and as wide as a pointer: arrays of any type are taken, and integers as they are.
        return Parameter(index, text, "pointer", ptx.size, offset, "Q", None)
    if code in "fd":
        return Parameter(index, text, "float", ptx.size, offset, code)
    bits = ptx.size * 8
    signed = code.islower()
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    if code == "?":
        low, high = 0, 1
    return Parameter(index, text, "integer", ptx.size, offset, code, None, low, high)


def _accepted(pointee: CType) -> frozenset[str] | None:
    """The dtypes of arrays that a pointer to this type takes; None: any."""
    name = re.sub(r"(\[\d+\])+$", "", pointee.text.removeprefix("const "))  # rows of a matrix: their elements
    if name == "void" or pointee.parameters is not None:
        return None
    if pointee.pointee is not None:
        return frozenset({"int64", "uint64"})  # an array of addresses
    if name in _SCALARS:
        dtype = _SCALARS[name][0]
        return frozenset({dtype, *_STAND_INS.get(dtype, ())})
    if name in _PACKED:
        dtype = _PACKED[name]
        return frozenset({dtype, *_STAND_INS.get(dtype, ())})
    if vector := _VECTOR.match(name):
        dtype = _VECTOR_BASES[vector["base"]]
        complex_type = {"float2": "complex64", "double2": "complex128"}.get(name)
        return frozenset({dtype} | ({complex_type} if complex_type else set()))
    return frozenset({"uint8", "int8", "bytes"})  # a struct: raw bytes, or a NumPy record
