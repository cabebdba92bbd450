"""wgmma: every type, many shapes, both majors, all swizzles; groups and what is in flight."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flashpath as fp
from flashpath.gpus.shape import LaunchShape
from flashpath.vgpu.device import HostArray, VirtualModule
from flashpath.vgpu.launch import Launch, Packed
from flashpath.vgpu.options import Options

Array = np.ndarray[Any, Any]

DTYPES: dict[str, Any] = {
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "tf32": np.dtype(np.float32),
    "e4m3": np.dtype(ml_dtypes.float8_e4m3fn),
    "e5m2": np.dtype(ml_dtypes.float8_e5m2),
    "s8": np.dtype(np.int8),
    "u8": np.dtype(np.uint8),
    "b1": np.dtype(np.uint8),
}
SWIZZLE_MODES = {0: 0, 128: 1, 64: 2, 32: 3}
A_AT, B_AT, SHARED = 1024, 66560, 200 << 10


def depth(kind: str) -> int:
    return 256 if kind == "b1" else 32 // DTYPES[kind].itemsize


def placed(matrix: Array, swizzle: int, mn_major: bool, at: int, spread: int) -> tuple[list[int], int, int]:
    """Where each 16 bytes of (rows, K) go in shared memory, row by row of the stored order; and both distances.

    As the canonical layouts of the PTX ISA have it; `spread` is more than the least distance between groups.
    """
    rows, row_bytes = matrix.shape[0], matrix.nbytes // matrix.shape[0]
    places: list[int] = []
    if not mn_major:  # `matrix` is (MN, K), two chunks a row
        assert row_bytes == 32
        width = swizzle or 16
        group = 8 * width + spread
        between = rows // 8 * group if swizzle == 0 else 16
        for row in range(rows):
            for part in range(2):
                places.append(at + row % 8 * width + row // 8 * group + part * between)
        leading, stride = (between, group) if swizzle == 0 else (16, group)
    else:  # `matrix` is (K, MN)
        width = swizzle or 16
        across = width // 16
        chunks = row_bytes // 16
        block = 8 * width + spread  # of eight k and one swizzle's width
        if swizzle == 0:
            stride, leading = block, chunks * block
            for k in range(rows):
                places += [at + k % 8 * 16 + c * stride + k // 8 * leading for c in range(chunks)]
        else:
            stride = block
            leading = rows // 8 * block
            for k in range(rows):
                for c in range(chunks):
                    places.append(at + c % across * 16 + c // across * leading + k % 8 * width + k // 8 * stride)
    if swizzle:
        mask = swizzle // 16 - 1
        places = [place ^ ((place >> 7 & mask) << 4) for place in places]
    return places, leading, stride


def descriptor(at: int, leading: int, stride: int, swizzle: int) -> int:
    return at >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | SWIZZLE_MODES[swizzle] << 62


def fragment_rows(warp: int) -> Array:
    """(lane, 2): the two rows of a lane."""
    lane = np.arange(32)
    return np.stack([16 * warp + lane // 4, 16 * warp + lane // 4 + 8], 1)


class Case:
    def __init__(
        self,
        sums: str,
        left: str,
        right: str,
        n: int,
        *,
        swizzles: tuple[int, int] = (128, 128),
        majors: tuple[bool, bool] = (False, False),
        in_registers: bool = False,
        scales: tuple[int, int] = (1, 1),
        accumulates: int = 1,
        saturates: bool = False,
    ) -> None:
        self.sums, self.left, self.right, self.n = sums, left, right, n
        self.swizzles, self.majors, self.in_registers = swizzles, majors, in_registers
        self.scales, self.accumulates, self.saturates = scales, accumulates, saturates

    def instruction(self) -> str:
        kind = self.left
        parts = ["wgmma.mma_async.sync.aligned", f"m64n{self.n}k{depth(kind)}"]
        parts += ["satfinite"] if self.saturates else []
        parts += [self.sums, self.left, self.right] + (["and", "popc"] if kind == "b1" else [])
        registers = self.n // (4 if self.sums == "f16" else 2)
        d = "{" + ", ".join(f"%s{k}" for k in range(registers)) + "}"
        a = "{%a0, %a1, %a2, %a3}" if self.in_registers else "%da"
        operands = [d, a, "%db", "%scale"]
        if kind not in ("s8", "u8", "b1"):
            operands += [str(scale) for scale in self.scales]
        if kind in ("f16", "bf16"):
            operands += ([] if self.in_registers else [str(int(self.majors[0]))]) + [str(int(self.majors[1]))]
        return ".".join(parts) + " " + ", ".join(operands) + ";"


def run(case: Case, a: Array, b: Array, c: Array, *, fence: str = "", sanitize: bool = False) -> Any:
    """D of one wgmma: `a` is (64, K), `b` (N, K) and `c` (64, N) in the accumulators' type."""
    registers = case.n // (4 if case.sums == "f16" else 2)
    images: list[tuple[Array, list[int]]] = []
    descriptors: list[int] = []
    for matrix, at, swizzle, major in zip((a, b), (A_AT, B_AT), case.swizzles, case.majors, strict=True):
        stored = np.ascontiguousarray(matrix.T if major else matrix)
        places, leading, stride = placed(stored, swizzle, major, at, 1024 if swizzle else 48)
        images.append((stored, places))
        descriptors.append(descriptor(at, leading, stride, swizzle))
    memory = np.zeros(SHARED, np.uint8)
    for stored, places in images:
        for chunk, place in zip(stored.view(np.uint8).reshape(-1, 16), places, strict=True):
            memory[place : place + 16] = chunk
    left = np.zeros((128, 4), np.uint32)
    wide = np.ascontiguousarray(a).view(np.uint32).reshape(64, 8)
    for warp in range(4):
        for lane in range(32):
            rows = fragment_rows(warp)[lane]
            columns = (lane % 4, lane % 4 + 4)
            left[32 * warp + lane] = [wide[r, k] for k in columns for r in rows]
    sums = packed_sums(case, c)
    text = f"""
.version 8.4
.target sm_90a
.address_size 64
.extern .shared .align 1024 .b8 base[];
.visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2)
{{
    .reg .pred %p<4>, %scale; .reg .b32 %r<8>, %s<{registers}>, %a<4>; .reg .b64 %d<8>, %da, %db, %own;
    ld.param.u64 %d0, [p0]; ld.param.u64 %d1, [p1]; ld.param.u64 %d2, [p2];
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, 0;
COPY:
    shl.b32 %r2, %r0, 4; mad.lo.u32 %r2, %r1, 2048, %r2;
    cvt.u64.u32 %d3, %r2; add.u64 %d3, %d3, %d0;
    ld.global.v4.u32 {{%r4, %r5, %r6, %r7}}, [%d3];
    mov.u32 %r3, base; add.u32 %r3, %r3, %r2;
    st.shared.v4.u32 [%r3], {{%r4, %r5, %r6, %r7}};
    add.u32 %r1, %r1, 1; setp.lt.u32 %p0, %r1, {SHARED // 2048}; @%p0 bra COPY;
    fence.proxy.async.shared::cta;
    bar.sync 0;
    mad.wide.u32 %own, %r0, 16, %d1;
    ld.global.v4.u32 {{%a0, %a1, %a2, %a3}}, [%own];
    mad.wide.u32 %own, %r0, {4 * registers}, %d2;
    {"".join(f"ld.global.u32 %s{k}, [%own+{4 * k}]; " for k in range(registers))}
    mov.u64 %da, {descriptors[0]}; mov.u64 %db, {descriptors[1]};
    setp.eq.u32 %scale, {case.accumulates}, 1;
    wgmma.fence.sync.aligned;
    {case.instruction()}
    wgmma.commit_group.sync.aligned;
    {fence or "wgmma.wait_group.sync.aligned 0;"}
    {"".join(f"st.global.u32 [%own+{4 * k}], %s{k}; " for k in range(registers))}
    ret;
}}
"""
    arrays = [memory, left, sums]
    places = [
        HostArray(8 * k, first, first, first + array.nbytes, first, first + array.nbytes, True)
        for k, array in enumerate(arrays)
        for first in [array.ctypes.data]
    ]
    shape = LaunchShape((1, 1, 1), (128, 1, 1), SHARED)
    launched = Launch(VirtualModule(text).kernel("k"), shape, Packed(bytes(24), places), fp.gpus.gpu("H200")).run(
        Options(sanitize=sanitize)
    )
    if sanitize:
        return launched.findings
    return unpacked_sums(case, sums)


def _columns(n: int) -> Array:
    """(lane, n / 8): the first of two columns of each lane and tile."""
    return 2 * (np.arange(32) % 4)[:, None] + 8 * np.arange(n // 8)[None]


def packed_sums(case: Case, c: Array) -> Array:
    out = []
    for warp in range(4):
        rows, columns = fragment_rows(warp), _columns(case.n)
        pairs = np.stack(
            [c[rows[:, h][:, None, None], columns[:, :, None] + np.arange(2)] for h in range(2)], 2
        )  # lane, tile, row, pair
        out.append(np.ascontiguousarray(pairs).view(np.uint32).reshape(32, -1))
    return np.concatenate(out)


def unpacked_sums(case: Case, sums: Array) -> Array:
    dtype = {"f16": np.float16, "f32": np.float32, "s32": np.int32}[case.sums]
    d = np.zeros((64, case.n), dtype)
    for warp in range(4):
        rows, columns = fragment_rows(warp), _columns(case.n)
        pairs = sums[32 * warp : 32 * warp + 32].view(dtype).reshape(32, case.n // 8, 2, 2)
        for h in range(2):
            d[rows[:, h][:, None, None], columns[:, :, None] + np.arange(2)] = pairs[:, :, h]
    return d


def drawn(kind: str, shape: tuple[int, int], rng: np.random.Generator) -> Array:
    """Small numbers, whose sums are exact in any order; of b1, bytes of bits."""
    if kind == "b1":
        return rng.integers(0, 256, (shape[0], 32), np.uint8)
    low = 0 if kind == "u8" else -4
    return rng.integers(low, 5, shape).astype(DTYPES[kind])


def expected(case: Case, a: Array, b: Array, c: Array) -> Array:
    if case.left == "b1":
        product = np.unpackbits(a, axis=1).astype(np.int64) @ np.unpackbits(b, axis=1).astype(np.int64).T
    else:
        product = a.astype(np.float64) @ b.astype(np.float64).T * (case.scales[0] * case.scales[1])
    total = product + (c.astype(np.float64) if case.accumulates else 0)
    if case.sums == "s32":
        total = total.astype(np.int64)
        if case.saturates:
            return np.clip(total, -(2**31), 2**31 - 1).astype(np.int32)
        return total.astype(np.uint64).astype(np.uint32).view(np.int32)
    return total.astype(c.dtype)


def check(case: Case, seed: int = 0) -> None:
    rng = np.random.default_rng(seed)
    a, b = drawn(case.left, (64, depth(case.left)), rng), drawn(case.right, (case.n, depth(case.right)), rng)
    dtype = {"f16": np.float16, "f32": np.float32, "s32": np.int32}[case.sums]
    c = rng.integers(-50, 50, (64, case.n)).astype(dtype)
    if case.saturates:
        c[::2] = 2**31 - 5
    d = run(case, a, b, c)
    assert d.tolist() == expected(case, a, b, c).tolist()


@pytest.mark.parametrize("n", [8, 16, 24, 40, 64, 128, 248, 256])
@pytest.mark.parametrize("sums", ["f16", "f32"])
def test_halves(sums: str, n: int) -> None:
    check(Case(sums, "f16", "f16", n))


@pytest.mark.parametrize("swizzle", [0, 32, 64, 128])
@pytest.mark.parametrize("major", [False, True])
@pytest.mark.parametrize("which", [0, 1])
def test_layouts(which: int, major: bool, swizzle: int) -> None:
    swizzles = (swizzle, 128) if which == 0 else (128, swizzle)
    majors = (major, False) if which == 0 else (False, major)
    check(Case("f32", "bf16", "bf16", 64, swizzles=swizzles, majors=majors))


@pytest.mark.parametrize("kind", ["tf32", "e4m3", "s8", "b1"])
@pytest.mark.parametrize("swizzle", [0, 32, 64, 128])
def test_layouts_of_other_types(kind: str, swizzle: int) -> None:
    sums = "s32" if kind in ("s8", "b1") else "f32"
    check(Case(sums, kind, kind, 48, swizzles=(swizzle, swizzle)))


PAIRS = [("f32", "bf16", "bf16"), ("f32", "tf32", "tf32")]
PAIRS += [(d, a, b) for d in ("f16", "f32") for a in ("e4m3", "e5m2") for b in ("e4m3", "e5m2")]
PAIRS += [("s32", a, b) for a in ("s8", "u8") for b in ("s8", "u8")] + [("s32", "b1", "b1")]


@pytest.mark.parametrize(("sums", "left", "right"), PAIRS)
@pytest.mark.parametrize("in_registers", [False, True])
def test_types(sums: str, left: str, right: str, in_registers: bool) -> None:
    check(Case(sums, left, right, 32, in_registers=in_registers))


@pytest.mark.parametrize("scales", [(1, -1), (-1, 1), (-1, -1)])
def test_scales(scales: tuple[int, int]) -> None:
    check(Case("f32", "f16", "f16", 64, scales=scales))
    check(Case("f32", "tf32", "tf32", 64, scales=scales, in_registers=True))


def test_without_what_was_there_and_saturated() -> None:
    check(Case("f32", "f16", "f16", 64, accumulates=0))
    check(Case("s32", "u8", "u8", 64, saturates=True))
    check(Case("s32", "u8", "u8", 64, saturates=False))


@pytest.mark.parametrize("kind", ["f16", "bf16", "tf32"])
def test_the_bits_are_those_of_mma(kind: str) -> None:
    """Sums of any numbers: each is one group of the unit, as of `mma` on Hopper."""
    rng = np.random.default_rng(3)
    a, b = (rng.standard_normal((rows, depth(kind))).astype(DTYPES[kind]) for rows in (64, 32))
    if kind == "tf32":
        a, b = ((x.view(np.uint32) & 0xFFFFE000).view(np.float32) for x in (a, b))
    c = rng.standard_normal((64, 32)).astype(np.float32)
    d = run(Case("f32", kind, kind, 32), a, b, c)
    for row, column in rng.integers(0, 32, (64, 2)):
        assert d[row, column] == aligned_sum(a[row], b[column], c[row, column])


def aligned_sum(a: Array, b: Array, c: Any) -> np.float32:
    """The terms cut off 25 bits below the largest exponent, summed exactly, and cut off to a float."""
    terms = [float(x) * float(y) for x, y in zip(a, b, strict=True)]
    exponents = [
        int(np.frexp(float(x))[1]) + int(np.frexp(float(y))[1]) - 2 for x, y in zip(a, b, strict=True) if x and y
    ]
    exponents.append(int(np.frexp(float(c))[1]) - 1)
    unit = 2.0 ** (max(exponents) - 25)
    total = sum(int(term / unit) for term in [*terms, float(c)]) * unit
    if total == 0:
        return np.float32(0)
    last = 2.0 ** (int(np.frexp(total)[1]) - 24)
    return np.float32(int(total / last) * last)


def test_nothing_comes_before_the_wait() -> None:
    """Without a wait the accumulators are touched in flight; that is found, and at its place."""
    rng = np.random.default_rng(0)
    a, b = drawn("f16", (64, 16), rng), drawn("f16", (64, 16), rng)
    c = np.zeros((64, 64), np.float32)
    case = Case("f32", "f16", "f16", 64)
    assert run(case, a, b, c, sanitize=True) == []
    found = run(case, a, b, c, sanitize=True, fence="wgmma.wait_group.sync.aligned 1;")
    assert {finding.kind for finding in found} == {"missing-wait"}
