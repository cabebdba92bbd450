"""mma.sync in every shape and type, its registers filled and read by the tables of the PTX ISA.

The bits of sums that are not exact are tested in tests/vgpu/hardware/tensor_core.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from flashpath.vgpu.device import UnsupportedInstruction

Array = np.ndarray[Any, Any]
Place = Callable[[int, int, int], tuple[int, int]]  # group, thread in group, element → row, column


@dataclass(frozen=True)
class Fragment:
    """How many elements a lane holds, and where they stand."""

    elements: int
    place: Place


# The tables of "Matrix Fragments for mma" in the PTX ISA: (shape, bits of an element) → A and B.
A_FRAGMENTS: dict[tuple[str, int], Fragment] = {
    ("m8n8k4", 64): Fragment(1, lambda g, t, i: (g, t)),
    ("m8n8k16", 8): Fragment(4, lambda g, t, i: (g, t * 4 + i)),
    ("m8n8k32", 4): Fragment(8, lambda g, t, i: (g, t * 8 + i)),
    ("m8n8k128", 1): Fragment(32, lambda g, t, i: (g, t * 32 + i)),
    ("m16n8k4", 32): Fragment(2, lambda g, t, i: (g if i == 0 else g + 8, t)),
    ("m16n8k4", 64): Fragment(2, lambda g, t, i: (g if i == 0 else g + 8, t)),
    ("m16n8k8", 16): Fragment(4, lambda g, t, i: (g if i < 2 else g + 8, t * 2 + i % 2)),
    ("m16n8k8", 32): Fragment(4, lambda g, t, i: (g if i in (0, 2) else g + 8, t if i < 2 else t + 4)),
    ("m16n8k8", 64): Fragment(4, lambda g, t, i: (g if i in (0, 2) else g + 8, t if i < 2 else t + 4)),
    ("m16n8k16", 16): Fragment(
        8, lambda g, t, i: (g if i in (0, 1, 4, 5) else g + 8, t * 2 + i % 2 + (0 if i < 4 else 8))
    ),
    ("m16n8k16", 64): Fragment(8, lambda g, t, i: (g, i * 2 + t) if i % 2 == 0 else (g + 8, i * 2 - 2 + t)),
    ("m16n8k16", 8): Fragment(8, lambda g, t, i: (g if i < 4 else g + 8, t * 4 + i % 4)),
    ("m16n8k32", 4): Fragment(16, lambda g, t, i: (g if i < 8 else g + 8, t * 8 + i % 8)),
    ("m16n8k32", 8): Fragment(
        16,
        lambda g, t, i: (g if i < 4 or 8 <= i < 12 else g + 8, t * 4 + i % 4 + (0 if i < 8 else 16)),
    ),
    ("m16n8k64", 4): Fragment(
        32,
        lambda g, t, i: (g if i < 8 or 16 <= i < 24 else g + 8, t * 8 + i % 8 + (0 if i < 16 else 32)),
    ),
    ("m16n8k128", 1): Fragment(64, lambda g, t, i: (g if i < 32 else g + 8, t * 32 + i % 32)),
    ("m16n8k256", 1): Fragment(
        128,
        lambda g, t, i: (g if i < 32 or 64 <= i < 96 else g + 8, t * 32 + i % 32 + (0 if i < 64 else 128)),
    ),
}
B_FRAGMENTS: dict[tuple[str, int], Fragment] = {
    ("m8n8k4", 64): Fragment(1, lambda g, t, i: (t, g)),
    ("m8n8k16", 8): Fragment(4, lambda g, t, i: (t * 4 + i, g)),
    ("m8n8k32", 4): Fragment(8, lambda g, t, i: (t * 8 + i, g)),
    ("m8n8k128", 1): Fragment(32, lambda g, t, i: (t * 32 + i, g)),
    ("m16n8k4", 32): Fragment(1, lambda g, t, i: (t, g)),
    ("m16n8k4", 64): Fragment(1, lambda g, t, i: (t, g)),
    ("m16n8k8", 16): Fragment(2, lambda g, t, i: (t * 2 + i, g)),
    ("m16n8k8", 32): Fragment(2, lambda g, t, i: (t if i == 0 else t + 4, g)),
    ("m16n8k8", 64): Fragment(2, lambda g, t, i: (t if i == 0 else t + 4, g)),
    ("m16n8k16", 16): Fragment(4, lambda g, t, i: (t * 2 + i % 2 + (0 if i < 2 else 8), g)),
    ("m16n8k16", 64): Fragment(4, lambda g, t, i: (t + i * 4, g)),
    ("m16n8k16", 8): Fragment(4, lambda g, t, i: (t * 4 + i, g)),
    ("m16n8k32", 4): Fragment(8, lambda g, t, i: (t * 8 + i, g)),
    ("m16n8k32", 8): Fragment(8, lambda g, t, i: (t * 4 + i % 4 + (0 if i < 4 else 16), g)),
    ("m16n8k64", 4): Fragment(16, lambda g, t, i: (t * 8 + i % 8 + (0 if i < 8 else 32), g)),
    ("m16n8k128", 1): Fragment(32, lambda g, t, i: (t * 32 + i, g)),
    ("m16n8k256", 1): Fragment(64, lambda g, t, i: (t * 32 + i % 32 + (0 if i < 32 else 128), g)),
}
SMALL_SUMS = Fragment(2, lambda g, t, i: (g, t * 2 + i))
LARGE_SUMS = Fragment(4, lambda g, t, i: (g if i < 2 else g + 8, t * 2 + i % 2))

TYPES: dict[str, tuple[int, Any]] = {  # bits; how NumPy calls it
    "f16": (16, np.float16),
    "bf16": (16, ml_dtypes.bfloat16),
    "tf32": (32, np.float32),
    "f32": (32, np.float32),
    "f64": (64, np.float64),
    "e4m3": (8, ml_dtypes.float8_e4m3fn),
    "e5m2": (8, ml_dtypes.float8_e5m2),
    "s8": (8, np.int8),
    "u8": (8, np.uint8),
    "s4": (4, np.int8),
    "u4": (4, np.uint8),
    "b1": (1, np.uint8),
    "s32": (32, np.int32),
}


def extents(shape: str) -> tuple[int, int, int]:
    m, rest = shape[1:].split("n")
    n, k = rest.split("k")
    return int(m), int(n), int(k)


def pack(matrix: Array, kind: str, fragment: Fragment) -> Array:
    """A matrix in registers: (register, lane)."""
    bits, dtype = TYPES[kind]
    raw = matrix.astype(dtype).view(f"u{np.dtype(dtype).itemsize}").astype(object)
    width = max(32, bits)
    registers = -(-fragment.elements * bits // width)
    packed = np.zeros((registers, 32), f"u{width // 8}")
    for lane in range(32):
        word = 0
        for i in range(fragment.elements):
            row, column = fragment.place(lane // 4, lane % 4, i)
            word |= (raw[row, column] & ((1 << bits) - 1)) << (i * bits)
        for register in range(registers):
            packed[register, lane] = word >> (register * width) & ((1 << width) - 1)
    return packed


def unpack(packed: Array, kind: str, fragment: Fragment, shape: tuple[int, int]) -> Array:
    _, dtype = TYPES[kind]
    per_lane = np.ascontiguousarray(packed.T).view(dtype)  # (lane, element): neighbours share a register
    matrix = np.zeros(shape, dtype)
    for lane in range(32):
        for i in range(fragment.elements):
            matrix[fragment.place(lane // 4, lane % 4, i)] = per_lane[lane, i]
    return matrix


def multiply(run_warp: Any, opcode: str, a: Array, b: Array, c: Array, exact: bool = True) -> Array:
    """D = A·B + C by the instruction, its matrices given and taken as matrices."""
    parts = opcode.split(".")
    shape = next(part for part in parts if part.startswith("m") and part[1].isdigit())
    kinds = [part for part in parts if part in TYPES]
    m, n, _ = extents(shape)
    sums = LARGE_SUMS if m == 16 else SMALL_SUMS
    fragments = (
        sums,
        A_FRAGMENTS[shape, TYPES[kinds[1]][0]],
        B_FRAGMENTS[shape, TYPES[kinds[2]][0]],
        sums,
    )
    inputs = [
        pack(matrix, kind, fragment)
        for matrix, kind, fragment in zip((a, b, c), kinds[1:], fragments[1:], strict=True)
    ]
    d = np.zeros_like(pack(np.zeros((m, n)), kinds[0], sums))
    assembly = ["shl.b32 %r1, %r0, 2; cvt.u64.u32 %rd8, %r1; shl.b32 %r1, %r0, 3; cvt.u64.u32 %rd9, %r1;"]
    operands: list[str] = []
    at = 4
    for k, registers in enumerate((d, *inputs)):
        wide = registers.dtype.itemsize == 8
        names = [f"%{'d' if wide else 'r'}{at + j}" for j in range(len(registers))]
        at += len(names)
        operands.append("{" + ", ".join(names) + "}")
        assembly.append(f"add.s64 %rd{4 + k}, %rd{k}, {'%rd9' if wide else '%rd8'};")
        if k > 0:
            for j, name in enumerate(names):
                offset = j * registers[0].nbytes
                assembly.append(f"ld.global.b{64 if wide else 32} {name}, [%rd{4 + k}+{offset}];")
    assembly.append(f"mma.sync.aligned.{opcode} {', '.join(operands)};")
    for j, name in enumerate(operands[0].strip("{}").split(", ")):
        offset = j * d[0].nbytes
        assembly.append(f"st.global.b{64 if d.dtype.itemsize == 8 else 32} [%rd4+{offset}], {name};")
    run_warp("\n".join(assembly), d, *inputs, exact=exact)
    return unpack(d, kinds[0], sums, (m, n))


FLOATS = [
    f"{shape}.row.col.{d}.{a}.{b}.{d}"
    for shape, a, b, accumulators in [
        ("m16n8k8", "f16", "f16", ("f16", "f32")),
        ("m16n8k16", "f16", "f16", ("f16", "f32")),
        ("m16n8k8", "bf16", "bf16", ("f32",)),
        ("m16n8k16", "bf16", "bf16", ("f32",)),
        ("m16n8k4", "tf32", "tf32", ("f32",)),
        ("m16n8k8", "tf32", "tf32", ("f32",)),
        *(
            (shape, a, b, ("f16", "f32"))
            for shape in ("m16n8k16", "m16n8k32")
            for a in ("e4m3", "e5m2")
            for b in ("e4m3", "e5m2")
        ),
        ("m8n8k4", "f64", "f64", ("f64",)),
        ("m16n8k4", "f64", "f64", ("f64",)),
        ("m16n8k8", "f64", "f64", ("f64",)),
        ("m16n8k16", "f64", "f64", ("f64",)),
    ]
    for d in accumulators
]
INTEGERS = [
    f"{shape}.row.col{saturation}.s32.{a}.{b}.s32"
    for shape, width in [
        ("m8n8k16", "8"),
        ("m16n8k16", "8"),
        ("m16n8k32", "8"),
        ("m8n8k32", "4"),
        ("m16n8k32", "4"),
        ("m16n8k64", "4"),
    ]
    for a in ("s" + width, "u" + width)
    for b in ("s" + width, "u" + width)
    for saturation in ("", ".satfinite")
]


def kinds_of(opcode: str) -> list[str]:
    return [part for part in opcode.split(".") if part in TYPES]


@pytest.mark.parametrize("opcode", FLOATS)
def test_every_element_is_where_the_isa_says(run_warp: Any, opcode: str) -> None:
    """Small whole numbers: each product and each sum is exact in every type."""
    m, n, k = extents(opcode.split(".")[0])
    rng = np.random.default_rng(1)
    a = rng.integers(-4, 5, (m, k)).astype(float)
    b = rng.integers(-4, 5, (k, n)).astype(float)
    c = rng.integers(-50, 51, (m, n)).astype(float)
    d = multiply(run_warp, opcode, a, b, c)
    assert np.array_equal(d.astype(float), a @ b + c)


# What rounding each sum of floats costs in the fast mode, relative to the sum of the products' sizes.
STEP = {"f16": 2.0**-24, "f32": 2.0**-24, "f64": 2.0**-53}
LAST = {"f16": 2.0**-11, "f32": 0.0, "f64": 0.0}  # one more rounding, at the end


@pytest.mark.parametrize("opcode", FLOATS)
def test_fast_sums_are_close_to_the_exact_ones(run_warp: Any, opcode: str) -> None:
    m, n, k = extents(opcode.split(".")[0])
    kind_d, kind_a, kind_b, kind_c = kinds_of(opcode)
    rng = np.random.default_rng(2)

    def values(shape: tuple[int, int], kind: str) -> Array:
        drawn = rng.standard_normal(shape) * 2.0 ** rng.integers(-3, 4, shape)
        stored = drawn.astype(TYPES[kind][1])
        if kind == "tf32":
            stored = (stored.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)
        return stored.astype(np.float64)

    a, b, c = values((m, k), kind_a), values((k, n), kind_b), values((m, n), kind_c)
    exact = a @ b + c
    sizes = abs(a) @ abs(b) + abs(c)
    d = multiply(run_warp, opcode, a, b, c, exact=False).astype(np.float64)
    assert np.all(abs(d - exact) <= (k + 1) * STEP[kind_d] * sizes + LAST[kind_d] * abs(exact))
    assert np.any(d != c)


@pytest.mark.parametrize("opcode", INTEGERS)
def test_integers_wrap_or_saturate(run_warp: Any, opcode: str) -> None:
    m, n, k = extents(opcode.split(".")[0])
    _, kind_a, kind_b, _ = kinds_of(opcode)
    rng = np.random.default_rng(3)

    def values(shape: tuple[int, int], kind: str) -> Array:
        bits = int(kind[1:])
        low = -(1 << (bits - 1)) if kind[0] == "s" else 0
        return rng.integers(low, low + (1 << bits), shape)

    a, b = values((m, k), kind_a), values((k, n), kind_b)
    c = rng.integers(-1000, 1000, (m, n))
    c[:4, ::2], c[:4, 1::2] = 2**31 - 1, -(2**31)
    exact = a @ b + c
    assert (exact != exact.astype(np.int32)).any()  # some leave the range
    expected = np.clip(exact, -(2**31), 2**31 - 1) if "satfinite" in opcode else exact.astype(np.int32)
    assert np.array_equal(multiply(run_warp, opcode, a, b, c), expected)


@pytest.mark.parametrize("operation", ["xor", "and"])
@pytest.mark.parametrize("shape", ["m8n8k128", "m16n8k128", "m16n8k256"])
def test_single_bits(run_warp: Any, shape: str, operation: str) -> None:
    m, n, k = extents(shape)
    rng = np.random.default_rng(4)
    a, b = rng.integers(0, 2, (m, k)), rng.integers(0, 2, (k, n))
    c = rng.integers(-(2**31), 2**31, (m, n))
    pairs = a[:, :, None] ^ b[None] if operation == "xor" else a[:, :, None] & b[None]
    d = multiply(run_warp, f"{shape}.row.col.s32.b1.b1.s32.{operation}.popc", a, b, c)
    assert np.array_equal(d, (pairs.sum(1) + c).astype(np.int32))


# ---- The form of the first tensor cores ----------------------------------------------------------------


def members(product: int) -> list[int]:
    return [4 * product + k for k in range(4)] + [16 + 4 * product + k for k in range(4)]


def sum_place(kind: str, lane: int, i: int) -> tuple[int, int]:
    high = 4 if lane >= 16 else 0
    if kind == "f16":
        return lane % 4 + high, i
    return (lane & 1) + (i & 2) + high, (i & 4) + (lane & 2) + (i & 1)


@pytest.mark.parametrize("layout_b", ["row", "col"])
@pytest.mark.parametrize("layout_a", ["row", "col"])
@pytest.mark.parametrize(("kind_d", "kind_c"), [("f16", "f16"), ("f32", "f16"), ("f32", "f32")])
def test_four_products_of_quad_pairs(
    run_warp: Any, kind_d: str, kind_c: str, layout_a: str, layout_b: str
) -> None:
    rng = np.random.default_rng(5)
    a = rng.integers(-4, 5, (4, 8, 4)).astype(np.float16)
    b = rng.integers(-4, 5, (4, 4, 8)).astype(np.float16)
    c = rng.integers(-50, 51, (4, 8, 8)).astype(TYPES[kind_c][1])
    packed_a, packed_b = np.zeros((32, 4), np.float16), np.zeros((32, 4), np.float16)
    packed_c = np.zeros((32, 8), c.dtype)
    for product in range(4):
        for lane in members(product):
            high = 4 if lane >= 16 else 0
            for i in range(4):
                row, column = (lane % 4 + high, i) if layout_a == "row" else (i + high, lane % 4)
                packed_a[lane, i] = a[product, row, column]
                row, column = (lane % 4, i + high) if layout_b == "row" else (i, lane % 4 + high)
                packed_b[lane, i] = b[product, row, column]
            for i in range(8):
                packed_c[lane, i] = c[product][sum_place(kind_c, lane, i)]
    d = np.zeros((32, 8), TYPES[kind_d][1])
    in_c, in_d = c.itemsize * 2, d.itemsize * 2  # registers
    names_c = ", ".join(f"%r{20 + k}" for k in range(in_c))
    names_d = ", ".join(f"%r{30 + k}" for k in range(in_d))
    load_c = "\n".join(f"ld.global.b32 %r{20 + k}, [%rd7+{4 * k}];" for k in range(in_c))
    store_d = "\n".join(f"st.global.b32 [%rd4+{4 * k}], %r{30 + k};" for k in range(in_d))
    run_warp(
        f"""mul.wide.u32 %rd8, %r0, 8; add.s64 %rd5, %rd1, %rd8; add.s64 %rd6, %rd2, %rd8;
        mul.wide.u32 %rd8, %r0, {8 * c.itemsize}; add.s64 %rd7, %rd3, %rd8;
        mul.wide.u32 %rd8, %r0, {8 * d.itemsize}; add.s64 %rd4, %rd0, %rd8;
        ld.global.v2.b32 {{%r10, %r11}}, [%rd5];
        ld.global.v2.b32 {{%r12, %r13}}, [%rd6];
        {load_c}
        mma.sync.aligned.m8n8k4.{layout_a}.{layout_b}.{kind_d}.f16.f16.{kind_c}
            {{{names_d}}}, {{%r10, %r11}}, {{%r12, %r13}}, {{{names_c}}};
        {store_d}""",
        d,
        packed_a,
        packed_b,
        packed_c,
    )
    for product in range(4):
        expected = a[product].astype(float) @ b[product].astype(float) + c[product]
        for lane in members(product):
            for i in range(8):
                assert d[lane, i] == expected[sum_place(kind_d, lane, i)]


# ---- Rounding, spellings, refusals ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rounding", "up", "down"),
    [
        ("", 1.0, -1.0),
        (".rn", 1.0, -1.0),
        (".rz", 1.0, -1.0),
        (".rp", np.nextafter(1, 2), -1.0),
        (".rm", 1.0, np.nextafter(-1, -2)),
    ],
)
def test_double_precision_rounds_as_asked(run_warp: Any, rounding: str, up: float, down: float) -> None:
    a, b = np.zeros((8, 4)), np.zeros((4, 8))
    a[0, 0], a[1, 0], b[0, 0] = 2.0**-60, -(2.0**-60), 1.0
    c = np.zeros((8, 8))
    c[0, 0], c[1, 0] = 1.0, -1.0
    d = multiply(run_warp, f"m8n8k4.row.col{rounding}.f64.f64.f64.f64", a, b, c)
    assert (d[0, 0], d[1, 0]) == (up, down)
    assert 0.1 + 0.2 == 0.30000000000000004  # the host rounds to nearest again


@pytest.mark.parametrize(("exact", "tie"), [(False, 2.0**-148), (True, 2.0**-149)])
def test_products_are_not_rounded_before_they_are_added(run_warp: Any, exact: bool, tie: float) -> None:
    """Half the smallest float tips a tie or is cut off; twice the largest power of two comes back by C."""
    a, b, c = np.zeros((16, 8)), np.zeros((8, 8)), np.zeros((16, 8))
    a[0, 0], b[0, 0], c[0, 0] = 2.0**-80, 2.0**-70, 2.0**-149
    d = multiply(run_warp, "m16n8k8.row.col.f32.bf16.bf16.f32", a, b, c, exact)
    assert d[0, 0] == tie
    a[0, 0], b[0, 0], c[0, 0] = 2.0**64, 2.0**64, -1.5 * 2.0**127
    d = multiply(run_warp, "m16n8k8.row.col.f32.bf16.bf16.f32", a, b, c, exact)
    assert d[0, 0] == 2.0**126


def test_infinities_and_nans(run_warp: Any) -> None:
    a, b, c = np.zeros((16, 16)), np.ones((16, 8)), np.zeros((16, 8))
    a[0, 3], a[1, 5], a[2, 0], a[2, 1], a[3, 0] = np.inf, np.nan, np.inf, -np.inf, 65504
    c[3] = 65504
    with np.errstate(invalid="ignore"):
        d = multiply(run_warp, "m16n8k16.row.col.f16.f16.f16.f16", a, b, c)
    assert np.all(d[0] == np.inf)
    assert np.all(np.isnan(d[1:3]))
    assert np.all(d[1:3].view(np.uint16 if d.itemsize == 2 else np.uint32) == (1 << (8 * d.itemsize - 1)) - 1)
    assert np.all(d[3] == np.inf)  # rounded to it
    assert not d[4:].any()


def test_the_low_bits_of_tf32_are_not_read(run_warp: Any) -> None:
    a, b, c = np.ones((16, 8)), np.eye(8), np.zeros((16, 8))
    a[0, 0] = np.uint32(0x3F801FFF).view(np.float32)
    assert multiply(run_warp, "m16n8k8.row.col.f32.tf32.tf32.f32", a, b, c)[0, 0] == 1.0


def test_order_of_modifiers_constants_and_sinks(run_warp: Any) -> None:
    """As ptxas accepts them: the layouts before the shape, numbers for C, results that nobody wants."""
    d = np.zeros(32, np.float32)
    run_warp(
        """mul.wide.u32 %rd8, %r0, 4; add.s64 %rd8, %rd0, %rd8;
        mov.b32 %r4, 0x3c003c00;
        mma.sync.aligned.row.col.m16n8k8.f32.f16.f16.f32
            {_, %f1, _, _}, {%r4, %r4}, {%r4}, {0f3f800000, 0f40000000, 0f00000000, 0f00000000};
        st.global.f32 [%rd8], %f1;""",
        d,
    )
    assert np.array_equal(d, np.full(32, 10.0, np.float32))


@pytest.mark.parametrize(
    ("instruction", "words"),
    [
        (
            "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
            "{%f0,%f1,%f2,%f3}, {%r4,%r5}, {%r6,%r7}, {%f0,%f1,%f2,%f3}, %r8, 0x0;",
            "sparse",
        ),
        (
            "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e4m3.f32 "
            "{%f0,%f1,%f2,%f3}, {%r4,%r5,%r6,%r7}, {%r8,%r9}, {%f0,%f1,%f2,%f3};",
            "kind::f8f6f4",
        ),
        (
            "mma.sync.aligned.m16n8k16.row.row.f32.f16.f16.f32 "
            "{%f0,%f1,%f2,%f3}, {%r4,%r5,%r6,%r7}, {%r8,%r9}, {%f0,%f1,%f2,%f3};",
            "B .col",
        ),
        (
            "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
            "{%f0,%f1,%f2,%f3}, {%r4,%r5}, {%r8,%r9}, {%f0,%f1,%f2,%f3};",
            "4 registers",
        ),
        (
            "mma.sync.aligned.m16n8k24.row.col.f32.f16.f16.f32 "
            "{%f0,%f1,%f2,%f3}, {%r4,%r5,%r6,%r7,%r10,%r11}, {%r8,%r9,%r12}, {%f0,%f1,%f2,%f3};",
            "m16n8k24",
        ),
        ("wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%f0}, %d0, %d0, %r0, 0, 1, 1, 1, 0, 0;", "sparse"),
        ("tcgen05.wait::ld.sync.aligned;", "sm_100a"),
    ],
)
def test_what_is_not_known_is_refused_by_name(run_warp: Any, instruction: str, words: str) -> None:
    with pytest.raises(UnsupportedInstruction) as caught:
        run_warp(instruction)
    assert words in str(caught.value)
    assert instruction.split(" ")[0].rstrip(";") in str(caught.value)
