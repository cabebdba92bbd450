"""Every product that the virtual GPU's tensor cores compute.

A case is one mma or wmma instruction. Its kernel gives one warp (one block) a tile: registers from memory,
the instruction, registers back. In memory a register is 32 words, one of each lane: (tile, register, lane).
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

# ---- Types ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Float:
    """A floating-point format in the upper bits of an element."""

    exponent_bits: int
    fraction_bits: int
    bits: int  # of the element; what is below the fraction is not read
    has_infinity: bool = True

    @property
    def bias(self) -> int:
        return (1 << (self.exponent_bits - 1)) - 1

    @property
    def top(self) -> int:
        """The largest exponent field."""
        return (1 << self.exponent_bits) - 1

    @property
    def unread(self) -> int:
        return self.bits - 1 - self.exponent_bits - self.fraction_bits


FLOATS = {
    "f16": Float(5, 10, 16),
    "bf16": Float(8, 7, 16),
    "tf32": Float(8, 10, 32),
    "e4m3": Float(4, 3, 8, has_infinity=False),
    "e5m2": Float(5, 2, 8),
    "f32": Float(8, 23, 32),
    "f64": Float(11, 52, 64),
}
INTEGER_BITS = {"s8": 8, "u8": 8, "s4": 4, "u4": 4, "b1": 1, "s32": 32}


def bits_of(kind: str) -> int:
    return FLOATS[kind].bits if kind in FLOATS else INTEGER_BITS[kind]


# ---- Cases ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """One instruction: `wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32`, say."""

    opcode: str
    family: str  # "mma", "wmma" or "quad": the four small products of the first tensor cores
    m: int
    n: int
    k: int
    kinds: tuple[str, str, str, str]  # of D, A, B and C

    @property
    def entry(self) -> str:
        return "k_" + self.opcode.replace(".", "_")

    @property
    def is_float(self) -> bool:
        return self.kinds[1] in FLOATS

    @property
    def products(self) -> int:
        return 4 if self.family == "quad" else 1

    @property
    def registers(self) -> tuple[int, int, int, int]:
        """Of D, A, B and C, in each lane."""
        sizes = (self.m * self.n, self.m * self.k, self.k * self.n, self.m * self.n)
        counts: list[int] = []
        for role, (size, kind) in enumerate(zip(sizes, self.kinds, strict=True)):
            bits = bits_of(kind)
            count = self.products * size * bits // (32 * max(32, bits))
            is_factor = role in (1, 2)
            counts.append(8 if self.family == "wmma" and kind == "f16" and is_factor else count)
        return counts[0], counts[1], counts[2], counts[3]

    def word(self, role: int) -> Any:
        return np.dtype(np.uint64 if bits_of(self.kinds[role]) == 64 else np.uint32)


def _extents(shape: str) -> tuple[int, int, int]:
    m, _, rest = shape[1:].partition("n")
    n, _, k = rest.partition("k")
    return int(m), int(n), int(k)


def _mma(shape: str, kinds: str, before: str = "", after: str = "", layouts: str = "row.col") -> Case:
    d, a, b, c = kinds.split()
    opcode = f"mma.sync.aligned.{shape}.{layouts}{before}.{d}.{a}.{b}.{c}{after}"
    family = "quad" if shape == "m8n8k4" and a == "f16" else "mma"
    return Case(opcode, family, *_extents(shape), (d, a, b, c))


def _wmma(shape: str, kinds: str, spelled: str, before: str = "", after: str = "") -> Case:
    d, a, b, c = kinds.split()
    opcode = f"wmma.mma{before}.sync.aligned.row.col.{shape}.{spelled}{after}"
    return Case(opcode, "wmma", *_extents(shape), (d, a, b, c))


def _float_cases() -> Iterator[Case]:
    for shape in ("m16n8k8", "m16n8k16"):
        yield _mma(shape, "f32 f16 f16 f32")
        yield _mma(shape, "f16 f16 f16 f16")
        yield _mma(shape, "f32 bf16 bf16 f32")
    yield _mma("m16n8k4", "f32 tf32 tf32 f32")
    yield _mma("m16n8k8", "f32 tf32 tf32 f32")
    for shape in ("m16n8k16", "m16n8k32"):
        for a in ("e4m3", "e5m2"):
            for b in ("e4m3", "e5m2"):
                yield _mma(shape, f"f32 {a} {b} f32")
                yield _mma(shape, f"f16 {a} {b} f16")
    for layouts in ("row.row", "row.col", "col.row", "col.col"):
        for d, c in (("f16", "f16"), ("f32", "f16"), ("f32", "f32")):
            yield _mma("m8n8k4", f"{d} f16 f16 {c}", layouts=layouts)
    for shape in ("m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16"):
        for rounding in ("", ".rn", ".rz", ".rm", ".rp"):
            yield _mma(shape, "f64 f64 f64 f64", before=rounding)
    for shape in ("m16n16k16", "m32n8k16", "m8n32k16"):
        for d in ("f16", "f32"):
            for c in ("f16", "f32"):
                yield _wmma(shape, f"{d} f16 f16 {c}", f"{d}.{c}")
        yield _wmma(shape, "f32 bf16 bf16 f32", "f32.bf16.bf16.f32")
    yield _wmma("m16n16k8", "f32 tf32 tf32 f32", "f32.tf32.tf32.f32")
    yield _wmma("m8n8k4", "f64 f64 f64 f64", "f64.f64.f64.f64")


def _integer_cases() -> Iterator[Case]:
    shapes = {"8": ("m8n8k16", "m16n8k16", "m16n8k32"), "4": ("m8n8k32", "m16n8k32", "m16n8k64")}
    for width, names in shapes.items():
        for shape in names:
            for a in ("s" + width, "u" + width):
                for b in ("s" + width, "u" + width):
                    yield _mma(shape, f"s32 {a} {b} s32")
                    yield _mma(shape, f"s32 {a} {b} s32", before=".satfinite")
    for shape in ("m8n8k128", "m16n8k128", "m16n8k256"):
        for operation in ("xor", "and"):
            yield _mma(shape, "s32 b1 b1 s32", after=f".{operation}.popc")
    for shape, kinds in (
        *((shape, ("s8", "u8")) for shape in ("m16n16k16", "m32n8k16", "m8n32k16")),
        ("m8n8k32", ("s4", "u4")),
    ):
        for kind in kinds:
            for saturation in ("", ".satfinite"):
                spelled = f"s32.{kind}.{kind}.s32"
                yield _wmma(shape, f"s32 {kind} {kind} s32", spelled, after=saturation)
    for operation in ("xor", "and"):
        yield _wmma("m8n8k128", "s32 b1 b1 s32", "s32.b1.b1.s32", before=f".{operation}.popc")


@functools.cache
def cases() -> dict[str, Case]:
    return {case.opcode: case for case in (*_float_cases(), *_integer_cases())}


# ---- Kernels -------------------------------------------------------------------------------------------

TARGET = "sm_90"


def entry_ptx(case: Case) -> str:
    """A kernel of the four arrays D, A, B and C."""
    lines: list[str] = []
    operands: list[str] = []
    offsets = "abcd"
    for role, count in enumerate(case.registers):
        bits = 8 * case.word(role).itemsize
        name = offsets[role - 1]  # D is "d"
        registers = [f"%{name}{index}" for index in range(count)]
        operands.append("{" + ", ".join(registers) + "}")
        lines.append(f".reg .b{bits} %{name}<{count}>;")
        bytes_a_tile = count * 32 * bits // 8
        lines.append(f"ld.param.u64 %p, [{name}]; cvta.to.global.u64 %p, %p;")
        lines.append(f"mad.wide.u32 %p{name}, %tile, {bytes_a_tile}, %p;")
        lines.append(f"mad.wide.u32 %p{name}, %lane, {bits // 8}, %p{name};")
        if role > 0:
            for index, register in enumerate(registers):
                lines.append(f"ld.global.b{bits} {register}, [%p{name}+{index * 4 * bits}];")
    lines.append(f"{case.opcode} {', '.join(operands)};")
    bits = 8 * case.word(0).itemsize
    for index in range(case.registers[0]):
        lines.append(f"st.global.b{bits} [%pd+{index * 4 * bits}], %d{index};")
    body = "\n  ".join(lines)
    return f""".visible .entry {case.entry}(.param .u64 d, .param .u64 a, .param .u64 b, .param .u64 c) {{
  .reg .b32 %tile, %lane; .reg .b64 %p, %pa, %pb, %pc, %pd;
  mov.u32 %tile, %ctaid.x; mov.u32 %lane, %tid.x;
  {body}
  ret;
}}
"""


def module_ptx(of: list[Case]) -> str:
    header = f".version 8.7\n.target {TARGET}\n.address_size 64\n"
    return header + "".join(entry_ptx(case) for case in of)


# ---- Where elements stand ------------------------------------------------------------------------------


def _corners(role: int, rows: int, columns: int, width: int) -> list[tuple[int, int]]:
    """The pieces of eight rows in a fragment, in the order of its registers, by their first element."""
    if role == 0:  # accumulators
        return [(row, column) for column in range(0, columns, 8) for row in range(0, rows, 8)]
    if role == 1 and rows > 8:  # the left factor: slabs of 16 rows
        return [
            (slab + half, column)
            for slab in range(0, rows, 16)
            for column in range(0, columns, width)
            for half in (0, 8)
        ]
    return [(row, column) for row in range(0, rows, 8) for column in range(0, columns, width)]


def _places_in_pieces(role: int, rows: int, columns: int, bits: int) -> Array:
    """(rows, columns) → the element's number among those of all registers, (register, lane, element)."""
    per_word = max(1, 32 // bits)
    splits = role == 0 and bits >= 32  # neighbours in two registers
    width = 8 if role == 0 else 4 * per_word
    places = np.zeros((rows, columns), np.int64)
    for piece, (row, column) in enumerate(_corners(role, rows, columns, width)):
        for lane in range(32):
            for element in range(width // 4):
                register = 2 * piece + element if splits else piece
                within = lane if splits else lane * per_word + element
                places[row + lane // 4, column + lane % 4 * (width // 4) + element] = (
                    register * 32 * per_word + within
                )
    return places


def _places_in_quads(case: Case, role: int) -> Array:
    """The same for the four products of m8n8k4, (product, rows, columns)."""
    layouts = case.opcode.split(".")[4:6]
    rows, columns = ((8, 8), (8, 4), (4, 8), (8, 8))[role]
    per_lane = rows * columns // 8
    per_word = 32 // bits_of(case.kinds[role])
    places = np.zeros((4, rows, columns), np.int64)
    for product in range(4):
        for member in range(8):
            lane = 4 * product + member % 4 + (16 if member >= 4 else 0)
            high = member // 4 * 4
            for e in range(per_lane):
                if role == 1:
                    at = (member, e) if layouts[0] == "row" else (high + e, member % 4)
                elif role == 2:
                    at = (member % 4, high + e) if layouts[1] == "row" else (e, member)
                elif per_word == 2:
                    at = member, e
                else:
                    at = (member & 1) + (e & 2) + (member & 4), (e & 4) + (member & 2) + (e & 1)
                places[product, *at] = (e // per_word * 32 + lane) * per_word + e % per_word
    return places


@functools.cache
def places(opcode: str, role: int) -> Array:
    """Where a matrix's elements are among those of its registers: (product, rows, columns); B is (k, n)."""
    case = cases()[opcode]
    if case.family == "quad":
        return _places_in_quads(case, role)
    bits = bits_of(case.kinds[role])
    m, n, k = case.m, case.n, case.k
    if case.family == "wmma" and m == 8 and n == 32:  # the hardware computes the transposed product
        if role == 1:
            return _places_in_pieces(2, m, k, bits)[None]
        if role == 2:
            return _places_in_pieces(1, n, k, bits).T[None]
        return _places_in_pieces(0, n, m, bits).T[None]
    if role == 1:
        return _places_in_pieces(1, m, k, bits)[None]
    if role == 2:
        return _places_in_pieces(2, n, k, bits).T[None]
    return _places_in_pieces(0, m, n, bits)[None]


def pack(case: Case, role: int, matrices: Array) -> Array:
    """Matrices of raw elements, (tile, product, rows, columns), in registers, (tile, register, lane)."""
    where = places(case.opcode, role)
    count = case.registers[role]
    per_register = 32 * max(1, 32 // bits_of(case.kinds[role]))
    flat = np.zeros((len(matrices), count * per_register), f"u{max(8, bits_of(case.kinds[role])) // 8}")
    pieces = where.size
    for first in range(0, flat.shape[1], pieces):  # the halves of wmma repeat to fill eight registers
        flat[:, first + where.ravel()] = matrices.reshape(len(matrices), -1)
    return flat.view(case.word(role)).reshape(len(matrices), count, 32)


def unpack(case: Case, role: int, registers: Array) -> Array:
    """The other way round."""
    kind = f"u{max(8, bits_of(case.kinds[role])) // 8}"
    flat = np.ascontiguousarray(registers).reshape(len(registers), -1).view(kind)
    return flat[:, places(case.opcode, role)]
