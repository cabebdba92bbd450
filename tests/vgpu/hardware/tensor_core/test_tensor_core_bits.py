"""Tensor cores against an H200 to the bit, against the model of other generations, and in fast mode."""

from __future__ import annotations

import functools
import importlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from make_tensor_core_golden import GOLDEN, checksums
from tensor_core_cases import FLOATS, Array, Case, cases, module_ptx, pack, unpack
from tensor_core_model import UNITS, decode, multiply
from tensor_core_numbers import RECIPES, float_tiles, inputs

from flashpath import gpus
from flashpath.gpus.shape import LaunchShape
from flashpath.vgpu import device
from flashpath.vgpu.device import HostArray, VirtualModule
from flashpath.vgpu.launch import Launch, Packed
from flashpath.vgpu.options import Options

GPUS = {"Ampere": "A100", "Ada": "RTX 4090", "Hopper": "H200"}
ALIGNED = [
    opcode
    for opcode, case in cases().items()
    if case.is_float and case.family != "quad" and "f64" not in opcode
]


@functools.cache
def module() -> VirtualModule:
    return VirtualModule(module_ptx(list(cases().values())))


@functools.cache
def golden() -> Any:
    return np.load(GOLDEN)


def run(
    case: Case, registers: list[Array], gpu: str, exact: bool = True, compiled: VirtualModule | None = None
) -> Array:
    """Registers of A, B and C to those of D."""
    d = np.full((len(registers[0]), case.registers[0], 32), 0xAAAAAAAA, case.word(0))
    arrays = [d, *(np.ascontiguousarray(each) for each in registers)]
    places: list[HostArray] = []
    for k, array in enumerate(arrays):
        first, last = array.ctypes.data, array.ctypes.data + array.nbytes
        places.append(HostArray(8 * k, first, first, last, first, last, True))
    kernel = (compiled or module()).kernel(case.entry)
    Launch(kernel, LaunchShape((len(d), 1, 1), (32, 1, 1)), Packed(bytes(32), places), gpus.gpu(gpu)).run(
        Options(exact)
    )
    return d


def product(case: Case, matrices: tuple[Array, Array, Array], gpu: str, exact: bool = True) -> Array:
    """The same for matrices of raw elements."""
    registers = [pack(case, role, matrix) for role, matrix in enumerate(matrices, 1)]
    return unpack(case, 0, run(case, registers, gpu, exact))


@pytest.mark.parametrize("opcode", cases())
def test_the_bits_are_those_of_an_h200(opcode: str) -> None:
    about = json.loads(str(golden()["about"]))
    case, tiles = cases()[opcode], about["tiles"]
    d = run(case, inputs(case, tiles, about["seed"]), "H200")
    kept = golden()[f"{opcode}/tiles"]  # (recipe, tile, register, lane)
    differing = d.reshape(-1, tiles, *d.shape[1:])[:, : about["kept"]] != kept
    assert not differing.any(), np.argwhere(differing)[:10]
    assert np.array_equal(checksums(d), golden()[f"{opcode}/checksums"])


def test_the_golden_file_is_of_these_cases() -> None:
    about = json.loads(str(golden()["about"]))
    names = {f"{opcode}/{part}" for opcode in cases() for part in ("checksums", "tiles")}
    assert set(golden().files) == names | {"about"}
    assert "H200" in about["gpu"]
    counted = {opcode: len(golden()[f"{opcode}/checksums"]) for opcode in cases()}
    recipes = {opcode: len(RECIPES) if case.is_float else 1 for opcode, case in cases().items()}
    assert counted == {opcode: about["tiles"] * recipes[opcode] for opcode in cases()}


@pytest.mark.parametrize("opcode", ALIGNED)
@pytest.mark.parametrize("generation", UNITS)
def test_the_bits_are_those_of_the_model(opcode: str, generation: str) -> None:
    case = cases()[opcode]
    for recipe in RECIPES:
        matrices = float_tiles(case, recipe, 4, seed=3)
        with np.errstate(all="ignore"):
            expected = multiply(case, generation, *matrices)
        d = product(case, matrices, GPUS[generation])
        assert np.array_equal(d, expected), (recipe, np.argwhere(d != expected)[:5])


@pytest.mark.parametrize("kind", ["f16", "bf16", "tf32", "e4m3"])
def test_generations_differ(kind: str) -> None:
    """Ampere and Ada add alike, but for bytes, which only Ada has; Hopper keeps one bit more."""
    shape = {"f16": "m16n8k16", "bf16": "m16n8k16", "tf32": "m16n8k8", "e4m3": "m16n8k32"}[kind]
    case = cases()[f"mma.sync.aligned.{shape}.row.col.f32.{kind}.{kind}.f32"]
    matrices = float_tiles(case, "near", 16, seed=4)
    d = {generation: product(case, matrices, gpu) for generation, gpu in GPUS.items()}
    assert np.array_equal(d["Ampere"], d["Ada"])
    share = np.count_nonzero(d["Ada"] != d["Hopper"]) / d["Ada"].size
    assert 0.01 < share < 0.5 or (kind == "e4m3" and share > 0.8)  # Ada has few bits for sums of bytes


def test_one_bit_tells_the_generations_apart() -> None:
    """1 + 2^-25 - 1: Hopper still sees it, the others do not; 2^-26 nobody does."""
    case = cases()["mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"]
    a = np.zeros((1, 1, 16, 16), np.float16)
    a[..., 0], a[..., 1], a[..., 2] = 1, 2.0**-12, -1
    b = np.ones((1, 1, 16, 8), np.float16)
    b[..., 1, :] = 2.0 ** -np.arange(11, 19)  # 2^-23 to 2^-30, column by column
    c = np.zeros((1, 1, 16, 8), np.float32)
    matrices = (a.view(np.uint16), b.view(np.uint16), c.view(np.uint32))
    seen = {each: int((product(case, matrices, gpu)[0, 0, 0] != 0).sum()) for each, gpu in GPUS.items()}
    assert seen == {"Ampere": 2, "Ada": 2, "Hopper": 3}


def fast_bound(case: Case, a: Array, b: Array, c: Array) -> Array:
    """One rounding a product, relative to the sizes of all terms; for halves one more at the end."""
    sizes = abs(a) @ abs(b) + abs(c)
    last = 2.0**-11 * abs(a @ b + c) + 2.0**-25 if case.kinds[0] == "f16" else 0.0
    return (case.k + 1) * 2.0**-24 * sizes + last


@pytest.mark.parametrize("opcode", ALIGNED)
def test_the_fast_mode_is_near(opcode: str) -> None:
    """exact=False: each sum rounded to a float, in the order of k, whatever GPU is played."""
    case = cases()[opcode]
    matrices = float_tiles(case, "near", 4, seed=5)
    a, b, c = (decode(kind, raw) for kind, raw in zip(case.kinds[1:], matrices, strict=True))
    d = product(case, matrices, "H200", exact=False)
    assert np.array_equal(d, product(case, matrices, "A100", exact=False))
    value = decode(case.kinds[0], d)
    assert np.all(abs(value - (a @ b + c)) <= fast_bound(case, a, b, c))
    assert FLOATS[case.kinds[0]].bits == 16 or not np.array_equal(d, product(case, matrices, "H200"))


def test_the_golden_file_is_small() -> None:
    assert GOLDEN.stat().st_size < 1 << 20


def test_every_case_has_its_row_in_the_list() -> None:
    """exactness.json, from which documents say what is exact, and how that is known."""
    table = json.loads((Path(__file__).parent / "exactness.json").read_text(encoding="utf-8"))
    used: set[tuple[int, str, str]] = set()
    for case in cases().values():
        shape = f"m{case.m}n{case.n}k{case.k}"
        rows = [
            k
            for k, row in enumerate(table["rows"])
            if case.family in row["families"]
            and shape in row["shapes"]
            and case.kinds[0] in row["sums"]
            and {case.kinds[1], case.kinds[2]} <= set(row["factors"])
        ]
        assert len(rows) == 1, (case.opcode, rows)
        used |= {(rows[0], shape, case.kinds[1]), (rows[0], shape, case.kinds[2])}
    said = {
        (k, shape, kind)
        for k, row in enumerate(table["rows"])
        for shape in row["shapes"]
        for kind in row["factors"]
    }
    assert used == said
    assert {row[generation] for row in table["rows"] for generation in GPUS} == set(table["means"])


# One of each way to add: a group, two groups, halves, bytes, and what is outside of a float's range.
WAYS = [
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
    "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16",
    "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32",
    "mma.sync.aligned.m16n8k32.row.col.f16.e4m3.e5m2.f16",
    "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64",
    "mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16",
]


@pytest.mark.parametrize("opcode", WAYS)
def test_every_build_gives_the_same_bits(opcode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine for any processor, besides the one that suits this one best."""
    case = cases()[opcode]
    registers = inputs(case, 4, seed=6)
    best = {gpu: run(case, registers, gpu) for gpu in GPUS.values()}
    plain = importlib.import_module("flashpath.vgpu._engine")
    monkeypatch.setattr(device, "engine", lambda: plain)
    compiled = VirtualModule(module_ptx([case]))
    for gpu, d in best.items():
        assert np.array_equal(run(case, registers, gpu, compiled=compiled), d)
