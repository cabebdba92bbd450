"""Every type of wgmma, and the kernel that runs one tile of it: 64 rows, `COLUMNS` columns, 32 bytes of k.

The factors lie in shared memory without a swizzle, K-major: 16 bytes of a row, the rows one after the other,
and then the other 16 bytes of them all. The accumulators are (tile, thread, register).
"""

from __future__ import annotations

import functools

import numpy as np
from tensor_core_cases import FLOATS, Array, Case, bits_of
from tensor_core_numbers import RECIPES, Source, float_tiles

TARGET = "sm_90a"
COLUMNS = 32
ROWS = 64
FLOAT_KINDS = (
    ("f16", "f16", "f16"),
    ("f32", "f16", "f16"),
    ("f32", "bf16", "bf16"),
    ("f32", "tf32", "tf32"),
    *((d, a, b) for d in ("f16", "f32") for a in ("e4m3", "e5m2") for b in ("e4m3", "e5m2")),
)
INTEGER_KINDS = (*(("s32", a, b) for a in ("s8", "u8") for b in ("s8", "u8")), ("s32", "b1", "b1"))


@functools.cache
def wgmma_cases() -> dict[str, Case]:
    """By the types of D, A and B."""
    made: dict[str, Case] = {}
    for d, a, b in (*FLOAT_KINDS, *INTEGER_KINDS):
        k = 256 // bits_of(a)
        after = ".and.popc" if a == "b1" else ""
        opcode = f"wgmma.mma_async.sync.aligned.m64n{COLUMNS}k{k}.{d}.{a}.{b}{after}"
        made[f"{d}.{a}.{b}"] = Case(opcode, "wgmma", ROWS, COLUMNS, k, (d, a, b, d))
    return made


def sums(case: Case) -> int:
    """Registers of accumulators."""
    return COLUMNS // (4 if case.kinds[0] == "f16" else 2)


def entry_ptx(case: Case) -> str:
    """Parameters: D and C in place, and the bytes of A and of B."""
    count = sums(case)
    d = ", ".join(f"%s{k}" for k in range(count))
    floats = case.kinds[1] in FLOATS
    more = ", 1, 1" if floats else ""
    more += ", 0, 0" if case.kinds[1] in ("f16", "bf16") else ""
    size = (ROWS + COLUMNS) * 32
    left, right = (
        f"{(at >> 4) | (rows * 16 >> 4) << 16 | (128 >> 4) << 32}"
        for at, rows in ((0, ROWS), (ROWS * 32, COLUMNS))
    )
    loads = "".join(f"ld.global.u32 %s{k}, [%own+{4 * k}];\n" for k in range(count))
    stores = "".join(f"st.global.u32 [%own+{4 * k}], %s{k};\n" for k in range(count))
    return f"""
.visible .entry {case.entry}(.param .u64 p0, .param .u64 p1)
{{
.reg .pred %p<2>; .reg .b32 %t, %b, %r<8>, %s<{count}>; .reg .b64 %d<4>, %own, %da, %db;
.shared .align 1024 .b8 tile_{case.entry}[{size}];
mov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x;
ld.param.u64 %d0, [p0]; ld.param.u64 %d1, [p1];
mad.wide.u32 %d1, %b, {size}, %d1;
shl.b32 %r0, %t, 2;
COPY:
cvt.u64.u32 %d2, %r0; add.u64 %d2, %d2, %d1; ld.global.u32 %r1, [%d2];
mov.u32 %r2, tile_{case.entry}; add.u32 %r2, %r2, %r0; st.shared.u32 [%r2], %r1;
add.u32 %r0, %r0, 512; setp.lt.u32 %p0, %r0, {size}; @%p0 bra COPY;
fence.proxy.async.shared::cta;
bar.sync 0;
mad.lo.u32 %r3, %b, 128, %t;
mad.wide.u32 %own, %r3, {4 * count}, %d0;
{loads}
mov.u32 %r4, tile_{case.entry}; shr.u32 %r4, %r4, 4; cvt.u64.u32 %da, %r4;
add.u64 %db, %da, {right}; add.u64 %da, %da, {left};
wgmma.fence.sync.aligned;
{case.opcode} {{{d}}}, %da, %db, 1{more};
wgmma.commit_group.sync.aligned;
wgmma.wait_group.sync.aligned 0;
{stores}
ret;
}}
"""


def module_ptx() -> str:
    bodies = "".join(entry_ptx(case) for case in wgmma_cases().values())
    return f".version 8.4\n.target {TARGET}\n.address_size 64\n{bodies}"


# ---- Matrices ------------------------------------------------------------------------------------------


def factors(a: Array, b: Array) -> Array:
    """Bytes of (tile, 64, 32) and (tile, columns, 32), as they lie in shared memory."""
    parts = [
        np.ascontiguousarray(each.reshape(len(each), -1, 2, 16).transpose(0, 2, 1, 3)).reshape(len(each), -1)
        for each in (a, b)
    ]
    return np.ascontiguousarray(np.concatenate(parts, 1))


def _places() -> tuple[Array, Array]:
    """(thread, tile of columns, row half, pair) → row and column."""
    thread = np.arange(128)
    row = 16 * (thread // 32) + thread % 32 // 4
    column = 2 * (thread % 4)
    rows = row[:, None, None, None] + 8 * np.arange(2)[None, None, :, None]
    columns = (
        column[:, None, None, None]
        + 8 * np.arange(COLUMNS // 8)[None, :, None, None]
        + np.arange(2)[None, None, None]
    )
    return np.broadcast_arrays(rows, columns)  # type: ignore[return-value]


def pack_sums(raw: Array) -> Array:
    """(tile, 64, columns) to (tile, thread, register)."""
    rows, columns = _places()
    return np.ascontiguousarray(raw[:, rows, columns]).view(np.uint32).reshape(len(raw), 128, -1)


def unpack_sums(case: Case, registers: Array) -> Array:
    rows, columns = _places()
    dtype = np.uint16 if case.kinds[0] == "f16" else np.uint32
    d = np.zeros((len(registers), ROWS, COLUMNS), dtype)
    d[:, rows, columns] = registers.view(dtype).reshape(len(registers), *rows.shape)
    return d


def inputs(case: Case, tiles: int, seed: int = 0) -> tuple[Array, Array, Array]:
    """Raw A (tile, 64, k), B (tile, k, columns) and C; of bits, A and B as bytes (tile, rows, 32)."""
    if case.kinds[1] in FLOATS:
        drawn = [float_tiles(case, recipe, tiles, seed) for recipe in RECIPES]
        a, b, c = (np.concatenate([each[role][:, 0] for each in drawn]) for role in range(3))
        return a, b, c
    source = Source(case.opcode, seed)
    a = source.words(tiles, ROWS, 32).astype(np.uint8)
    b = source.words(tiles, 32, COLUMNS).astype(np.uint8)
    return a, b, source.words(tiles, ROWS, COLUMNS).astype(np.uint32)


def arguments(matrices: tuple[Array, Array, Array]) -> tuple[Array, Array]:
    """What the kernel takes: registers of C, which become those of D, and the bytes of A and B."""
    a, b, c = matrices
    left = np.ascontiguousarray(a).view(np.uint8).reshape(len(a), ROWS, 32)
    right = np.ascontiguousarray(b.transpose(0, 2, 1)).view(np.uint8).reshape(len(b), COLUMNS, 32)
    return pack_sums(c), factors(left, right)
