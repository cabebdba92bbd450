"""MMA atoms: who holds what, by the PTX ISA's tables and by running mma.sync on the virtual GPU.

A product does not tell in which order A and B count along K, as long as both do it alike: that is compared
with the tables alone.
"""

from __future__ import annotations

import re
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from flashpath.gpus.shape import LaunchShape
from flashpath.layout import Layout, LayoutError, MmaAtom, ThreadValue, mma_atom, mma_names
from flashpath.layout.mma_atoms import BITS
from flashpath.messages import speaking
from flashpath.vgpu.device import HostArray, VirtualModule
from flashpath.vgpu.launch import Launch, Packed
from flashpath.vgpu.options import Options
from tests.vgpu.tensor_core.test_mma import A_FRAGMENTS, B_FRAGMENTS, LARGE_SUMS, SMALL_SUMS, Fragment

Array = np.ndarray[Any, Any]
OF_WARPS = [name for name in mma_names() if "_SS" not in name and "_RS" not in name]
DTYPES: dict[str, Any] = {
    "F64": np.float64, "F32": np.float32, "TF32": np.float32, "F16": np.float16, "BF16": ml_dtypes.bfloat16,
    "E4M3": ml_dtypes.float8_e4m3fn, "E5M2": ml_dtypes.float8_e5m2, "S32": np.int32,
    "S8": np.int8, "U8": np.uint8, "S4": np.int8, "U4": np.uint8, "U1": np.uint8,
}  # fmt: skip


# ---- By the tables -----------------------------------------------------------------------------------------


def assert_fragment(held: ThreadValue, fragment: Fragment, transposed: bool = False) -> None:
    assert held.layout[1].size == fragment.elements
    for lane in range(32):
        for value in range(fragment.elements):
            place = fragment.place(lane // 4, lane % 4, value)
            assert held.element(lane, value) == (place[::-1] if transposed else place)


@pytest.mark.parametrize("name", [name for name in OF_WARPS if not name.startswith("SM70")])
def test_fragments_are_those_of_the_isa(name: str) -> None:
    atom = mma_atom(name)
    assert atom.a is not None
    assert atom.b is not None
    shape = "m{}n{}k{}".format(*atom.extents)
    assert_fragment(atom.a, A_FRAGMENTS[shape, BITS[atom.types[1]]])
    assert_fragment(atom.b, B_FRAGMENTS[shape, BITS[atom.types[2]]], transposed=True)
    assert_fragment(atom.c, LARGE_SUMS if atom.extents[0] == 16 else SMALL_SUMS)


@pytest.mark.parametrize("columns", [8, 24, 128, 256])
def test_sums_of_wgmma_are_those_of_the_isa(columns: int) -> None:
    atom = mma_atom(f"SM90_64x{columns}x16_F32BF16BF16_RS")
    assert atom.b is None
    assert atom.threads == Layout(128)
    for thread in range(128):
        for value in range(columns // 2):
            row = 16 * (thread // 32) + thread % 32 // 4 + 8 * (value // 2 % 2)
            assert atom.c.element(thread, value) == (row, 8 * (value // 4) + thread % 4 * 2 + value % 2)


@pytest.mark.parametrize(("kind", "k", "packed"), [("TF32", 8, 1), ("F16", 16, 2), ("E4M3", 32, 4)])
def test_a_in_registers_of_wgmma(kind: str, k: int, packed: int) -> None:
    suffix = "RS" if kind == "F16" else "RS_TN"
    atom = mma_atom(f"SM90_64x64x{k}_F32{kind}{kind}_{suffix}")
    assert atom.a is not None
    for thread in range(128):
        for value in range(4 * packed):
            register, position = divmod(value, packed)
            row = 16 * (thread // 32) + thread % 32 // 4 + 8 * (register % 2)
            column = packed * (thread % 4) + position + 4 * packed * (register // 2)
            assert atom.a.element(thread, value) == (row, column)


def test_every_element_is_held_once() -> None:
    for name in mma_names():
        atom = mma_atom(name)
        m, n, k = atom.extents
        for held, tile in ((atom.a, (m, k)), (atom.b, (n, k)), (atom.c, (m, n))):
            if held is not None:
                assert held.tile == tile, name
                assert held.layout.size == held.layout.cosize == tile[0] * tile[1], name
                assert held.layout.is_injective(), name
                assert held.layout[0].size == atom.threads.size, name


def test_an_unknown_atom_is_answered_with_names_like_it() -> None:
    with speaking("en"), pytest.raises(LayoutError, match="SM80_16x8x16_F32F16F16F32_TN"):
        mma_atom("sm80_16x8x16_f32f16f16f32_tn")
    with speaking("zh"), pytest.raises(LayoutError, match="没有名为 nothing 的 MMA 原子"):
        mma_atom("nothing")


# ---- On the virtual GPU ------------------------------------------------------------------------------------


def opcode(atom: MmaAtom) -> str:
    """Spells the instruction in PTX."""
    shape = "m{}n{}k{}".format(*atom.extents)
    transposes = re.findall(r"_([TN])([TN])", atom.name)[0]
    a, b = "row" if transposes[0] == "T" else "col", "col" if transposes[1] == "N" else "row"
    saturate = ".satfinite" if "SATURATE" in atom.name else ""
    types = ".".join(kind.lower().replace("u1", "b1") for kind in atom.types)
    operation = {"AND": ".and.popc", "XOR": ".xor.popc"}.get(atom.name[-7:-4], "")
    return f"mma.sync.aligned.{shape}.{a}.{b}{saturate}.{types}{operation}"


def lanes_of(atom: MmaAtom) -> list[list[int]]:
    """Returns the lanes of each product that a warp does at once: four with sm_70's instruction."""
    first = atom.threads.indices()
    return [[lane + 4 * product for lane in first] for product in range(32 // len(first))]


def packed(matrices: Array, kind: str, held: ThreadValue, lanes: list[list[int]]) -> Array:
    """Puts matrices into registers by our layout: (lane, register)."""
    bits = BITS[kind]
    width = max(32, bits)
    stored = matrices.astype(DTYPES[kind])
    raw = stored.view(f"u{stored.itemsize}").astype(object)
    values = held.layout[1].size
    registers = np.zeros((32, -(-values * bits // width)), f"u{width // 8}")
    for product, members in enumerate(lanes):
        for thread, lane in enumerate(members):
            word = 0
            for value in range(values):
                element = raw[(product, *held.element(thread, value))] & ((1 << bits) - 1)
                word |= element << (value * bits)
            for register in range(registers.shape[1]):
                registers[lane, register] = word >> (register * width) & ((1 << width) - 1)
    return registers


def multiplied(atom: MmaAtom, a: Array, b: Array, c: Array) -> Array:
    """Runs the instruction on A (M,K), B (N,K) and C (M,N), placed and read by our layouts."""
    assert atom.a is not None
    assert atom.b is not None
    lanes = lanes_of(atom)
    kind = atom.types[0]
    inputs = [
        packed(a, atom.types[1], atom.a, lanes),
        packed(b, atom.types[2], atom.b, lanes),
        packed(c, atom.types[3], atom.c, lanes),
    ]
    d = np.zeros_like(packed(np.zeros_like(c), kind, atom.c, lanes))
    arrays = [d, *inputs]
    lines: list[str] = []
    names: list[str] = []
    for number, registers in enumerate(arrays):
        size, count = registers.itemsize, registers.shape[1]
        lines.append(f"mad.wide.u32 %rd{4 + number}, %r0, {size * count}, %rd{number};")
        own = [f"%{'d' if size == 8 else 'r'}{10 * number + register + 1}" for register in range(count)]
        names.append(f"{{{', '.join(own)}}}")
        if number:
            lines += [
                f"ld.global.b{8 * size} {name}, [%rd{4 + number}+{size * register}];"
                for register, name in enumerate(own)
            ]
    lines.append(f"{opcode(atom)} {', '.join(names)};")
    for register, name in enumerate(names[0].strip("{}").split(", ")):
        lines.append(f"st.global.b{8 * d.itemsize} [%rd4+{d.itemsize * register}], {name};")
    run("\n".join(lines), arrays)
    per_lane = d.view(DTYPES[kind])
    result = np.zeros(c.shape, DTYPES[kind])
    for product, members in enumerate(lanes):
        for thread, lane in enumerate(members):
            for value in range(atom.c.layout[1].size):
                result[(product, *atom.c.element(thread, value))] = per_lane[lane, value]
    return result


def run(body: str, arrays: list[Array]) -> None:
    """Runs lines of PTX in one warp: `%rd0` on are the arrays' addresses, `%r0` is the lane."""
    loads = "\n".join(f"ld.param.u64 %rd{k}, [p{k}]; cvta.to.global.u64 %rd{k}, %rd{k};" for k in range(4))
    ptx = f"""
.version 8.4
.target sm_90
.address_size 64
.visible .entry k({", ".join(f".param .u64 p{k}" for k in range(4))}) {{
  .reg .b32 %r<64>; .reg .b64 %rd<16>; .reg .f64 %d<64>;
  mov.u32 %r0, %tid.x;
  {loads}
  {body}
  ret;
}}"""
    places: list[HostArray] = []
    for number, array in enumerate(arrays):
        first = array.ctypes.data
        places.append(
            HostArray(8 * number, first, first, first + array.nbytes, first, first + array.nbytes, True)
        )
    kernel = VirtualModule(ptx).kernel("k")
    Launch(kernel, LaunchShape((1, 1, 1), (32, 1, 1)), Packed(bytes(32), places)).run(
        Options(exact=True, count=False)
    )


def drawn(rng: np.random.Generator, kind: str, shape: tuple[int, ...]) -> Array:
    """Draws whole numbers that every type of that kind holds exactly."""
    low, high = (0, 2) if kind == "U1" else (0, 8) if kind[0] == "U" else (-4, 5)
    return rng.integers(low, high, shape)


@pytest.mark.parametrize("name", OF_WARPS)
def test_a_product_of_matrices_that_are_placed_by_the_layouts(name: str) -> None:
    atom = mma_atom(name)
    m, n, k = atom.extents
    rng = np.random.default_rng(1)
    count = len(lanes_of(atom))
    a = drawn(rng, atom.types[1], (count, m, k))
    b = drawn(rng, atom.types[2], (count, n, k))
    c = rng.integers(-50, 51, (count, m, n))
    if atom.types[1] == "U1":
        pairs = (np.bitwise_xor if "XOR" in name else np.bitwise_and)(a[:, :, None, :], b[:, None, :, :])
        expected = pairs.sum(-1) + c
    else:
        expected = a @ b.transpose(0, 2, 1) + c
    assert np.array_equal(multiplied(atom, a, b, c).astype(float), expected)


def test_one_hot_elements_pick_their_row() -> None:
    """A single 1 in A, at (m, k), copies row k of B to row m of D."""
    atom = mma_atom("SM80_16x8x16_F32F16F16F32_TN")
    b = np.arange(1, 129).reshape(1, 8, 16)
    for m, k in ((0, 0), (3, 5), (8, 1), (15, 15), (7, 8)):
        a = np.zeros((1, 16, 16))
        a[0, m, k] = 1
        expected = np.zeros((16, 8))
        expected[m] = b[0, :, k]
        assert np.array_equal(multiplied(atom, a, b, np.zeros((1, 16, 8)))[0], expected)
