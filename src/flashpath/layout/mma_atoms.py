"""The matrix instructions of sm_70 to sm_90: which thread holds which element of A, B and C.

Names are CUTLASS's: architecture, MxNxK, the types of D, A, B and C, and which matrices are transposed. The
layouts follow from the fragments in the PTX ISA, by one rule for `mma.sync` from sm_75 on and for `wgmma`:
eight groups of four threads stand for eight rows; a thread's 32-bit register holds neighbours along K (of A
and B) or two along N (of C); further registers hold the rows eight below, then the next step along K or N.
A is (M,K), B is (N,K), C is (M,N).
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from flashpath.layout.layout import Layout, LayoutError, make_layout
from flashpath.layout.thread_value import ThreadValue
from flashpath.messages import did_you_mean

BITS = {
    "F64": 64, "F32": 32, "TF32": 32, "S32": 32, "F16": 16, "BF16": 16,
    "E4M3": 8, "E5M2": 8, "S8": 8, "U8": 8, "S4": 4, "U4": 4, "U1": 1,
}  # fmt: skip
"""How many bits an element of a type has."""

_FP8 = ("E4M3", "E5M2")
_Extents = tuple[int, int, int]  # M, N, K
_Types = tuple[str, str, str, str]  # of D, A, B and C
_Named = tuple[str, _Extents, _Types, str]  # architecture, extents, types, and how the name ends
_HALF: _Types = ("F16", "F16", "F16", "F16")
_SINGLE: _Types = ("F32", "F16", "F16", "F32")
_DOUBLE: _Types = ("F64", "F64", "F64", "F64")


@dataclass(frozen=True)
class MmaAtom:
    """One matrix instruction: D = A·B + C, its extents, types and thread–value layouts.

    `a` and `b` are None where the instruction reads that matrix from shared memory.
    """

    name: str
    extents: _Extents
    types: _Types
    threads: Layout
    a: ThreadValue | None
    b: ThreadValue | None
    c: ThreadValue

    @property
    def operands(self) -> dict[str, ThreadValue | None]:
        """The three matrices by their names."""
        return {"A": self.a, "B": self.b, "C": self.c}


def mma_names() -> list[str]:
    """Returns the names of all instructions."""
    return list(_specs())


def mma_atom(name: str) -> MmaAtom:
    """Returns an instruction by its name, such as `SM80_16x8x16_F32F16F16F32_TN`."""
    specs = _specs()
    if name not in specs:
        advice = did_you_mean(name.upper().replace("X", "x"), specs, near=0.75)
        raise LayoutError("layout.no-such-atom", name=name, advice=f"{advice} " if advice else "")
    (m, n, k), types = specs[name]
    extents, bits = (m, n, k), BITS[types[1]]
    if name.startswith("SM70"):
        return _quad_pair(name, extents, types)
    if m == 64:
        a = None if "_SS" in name else _fragment(64, k, bits)
        return MmaAtom(name, extents, types, Layout(128), a, None, _sums(64, n))
    a, b = _fragment(m, k, bits), _fragment(n, k, bits)
    return MmaAtom(name, extents, types, Layout(32), a, b, _sums(m, n))


def _fragment(rows: int, columns: int, bits: int) -> ThreadValue:
    """Lays out A or B over (rows, K): neighbours along K share a register, further registers follow."""
    packed = max(1, 32 // bits)
    return _eight_groups(rows, columns, packed)


def _sums(rows: int, columns: int) -> ThreadValue:
    """Lays out C over (M, N): a thread has pairs along N, whatever their type is."""
    return _eight_groups(rows, columns, 2)


def _eight_groups(rows: int, columns: int, packed: int) -> ThreadValue:
    warps = [(rows // 16, 16)] if rows > 16 else []  # each warp has 16 rows of its own
    threads = [(4, packed * rows), (8, 1), *warps]
    steps = columns // (4 * packed)
    values = [(packed, rows), *([(2, 8)] if rows >= 16 else []), (steps, 4 * packed * rows)]
    layout = make_layout([_modes(threads), _modes([mode for mode in values if mode[0] > 1])])
    return ThreadValue(layout, (rows, columns))


def _modes(modes: Sequence[tuple[int, int]]) -> Layout:
    """Makes one layout of extents and strides; none at all is a single value."""
    if len(modes) > 1:
        return make_layout(Layout(extent, stride) for extent, stride in modes)
    return Layout(*modes[0]) if modes else Layout(1, 0)


def _quad_pair(name: str, extents: _Extents, types: _Types) -> MmaAtom:
    """Lays out sm_70's instruction: eight threads, two quads 16 apart, multiply 8x8x4; a warp does four."""
    threads = Layout((4, 2), (1, 16))
    by_row = Layout((8, 4), (1, 8))  # a thread has a row
    by_column = Layout(((4, 2), 4), ((8, 4), 1))  # a thread has four of a column
    half, single = Layout((8, 8), (1, 8)), Layout(((2, 2, 2), (2, 2, 2)), ((1, 16, 4), (8, 2, 32)))
    transposes = name[-2:]
    a = by_row if transposes[0] == "T" else by_column
    b = by_row if transposes[1] == "N" else by_column
    c = half if types[3] == "F16" else single
    a, b = (ThreadValue(layout, (8, 4), threads) for layout in (a, b))
    return MmaAtom(name, extents, types, threads, a, b, ThreadValue(c, (8, 8), threads))


# ---- Which instructions there are ----------------------------------------------------------------------


@functools.cache
def _specs() -> dict[str, tuple[_Extents, _Types]]:
    found: dict[str, tuple[_Extents, _Types]] = {}
    for prefix, extents, types, suffix in (*_of_warps(), *_of_warp_groups()):
        shape, kinds = "x".join(map(str, extents)), "".join(types[: 3 if extents[0] == 64 else 4])
        found[f"{prefix}_{shape}_{kinds}_{suffix}"] = extents, types
    return found


def _of_warps() -> Iterator[_Named]:
    """Yields the forms of `mma.sync`."""
    for types, transposes in product((_HALF, _SINGLE), ("TN", "NT", "NN", "TT")):
        yield "SM70", (8, 8, 4), types, transposes
    for types in (_SINGLE, _HALF):
        yield "SM75", (16, 8, 8), types, "TN"
    yield "SM75", (8, 8, 16), ("S32", "S8", "S8", "S32"), "TN"
    for types, k in product((_HALF, _SINGLE, ("F32", "BF16", "BF16", "F32")), (8, 16)):
        yield "SM80", (16, 8, k), types, "TN"
    for k in (4, 8):
        yield "SM80", (16, 8, k), ("F32", "TF32", "TF32", "F32"), "TN"
    yield "SM80", (8, 8, 4), _DOUBLE, "TN"
    for bits, step in ((8, 16), (4, 32)):
        for a, b in product((f"S{bits}", f"U{bits}"), repeat=2):
            for extents in ((8, 8, step), (16, 8, step), (16, 8, 2 * step)):
                for saturate in ("", "_SATURATE"):
                    yield "SM80", extents, ("S32", a, b, "S32"), f"TN{saturate}"
    for extents, operation in product(((8, 8, 128), (16, 8, 128), (16, 8, 256)), ("AND", "XOR")):
        yield "SM80", extents, ("S32", "U1", "U1", "S32"), f"TN_{operation}POPC"
    for sums, a, b in product(("F32", "F16"), _FP8, _FP8):
        yield "SM89", (16, 8, 32), (sums, a, b, sums), "TN"
    for k in (4, 8, 16):
        yield "SM90", (16, 8, k), _DOUBLE, "TN"


def _of_warp_groups() -> Iterator[_Named]:
    """Yields the forms of `wgmma`: 64 rows, N up to 256, K of 32 bytes."""
    kinds = [(sums, "F16", "F16") for sums in ("F16", "F32")] + [("F32", "BF16", "BF16")]
    kinds += [("F32", "TF32", "TF32")]
    kinds += [(sums, a, b) for sums in ("F16", "F32") for a, b in product(_FP8, repeat=2)]
    kinds += [("S32", a, b) for a, b in product(("S8", "U8"), repeat=2)]
    for sums, a, b in kinds:
        of_integers = sums == "S32"
        columns = (*range(8, 33, 8), *range(48, 257, 16)) if of_integers else range(8, 257, 8)
        transposes = "" if BITS[a] == 16 else "_TN"
        for n, source in product(columns, ("SS", "RS")):
            for saturate in ("", "_SATURATE") if of_integers else ("",):
                extents = (64, n, 256 // BITS[a])
                yield "SM90", extents, (sums, a, b, sums), f"{source}{transposes}{saturate}"
