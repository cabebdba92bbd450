"""Bank conflicts of a layout, beside what the virtual GPU counts for the same addresses."""

from __future__ import annotations

import numpy as np
import pytest

import flashpath as fp
from flashpath.layout import AnyLayout, bank, bank_accesses, parse_layout
from flashpath.layout.banks import rows_of

READ = """
template <class T>
__global__ void read(const int* places, int count, T* out) {
  extern __shared__ __align__(16) unsigned char bytes[];
  T* tile = reinterpret_cast<T*>(bytes);
  int i = blockIdx.x * 32 + threadIdx.x;
  if (i < count) out[i] = tile[places[i]];
}
"""
TYPES = {
    8: ("unsigned char", np.uint8),
    16: ("unsigned short", np.uint16),
    32: ("float", np.float32),
    64: ("double", np.float64),
}
LAYOUTS = [
    "(8,64):(64,1)",
    "Sw<3,3,3> o 0 o (8,64):(64,1)",
    "(32,32):(32,1)",
    "(32,32):(33,1)",
    "(32,32):(1,32)",
    "((2,4),(8,2)):((8,32),(1,16))",
    "(16,8):(1,0)",
    "Sw<2,3,3> o 0 o (16,32):(32,1)",
    "(5,7):(7,1)",
    "((2,8),(2,8)):((0,1),(0,16))",
]


@pytest.fixture(scope="module")
def module() -> fp.Module:
    return fp.compile(READ, name_expressions=[f"read<{name}>" for name, _ in TYPES.values()])


def counted(module: fp.Module, indices: list[int], bits: int) -> tuple[int, int]:
    """Reads elements, 32 neighbouring threads at a time; returns the passes and the conflicts among them."""
    name, dtype = TYPES[bits]
    out = np.zeros(len(indices), dtype)
    report = fp.profile(
        module[f"read<{name}>"],
        grid=(-(-len(indices) // 32),),
        block=(32,),
        args=(np.array(indices, np.int32), len(indices), out),
        shared=16384,
    )
    return report.shared_load.wavefronts, report.shared_load.bank_conflicts


@pytest.mark.parametrize("bits", TYPES)
@pytest.mark.parametrize("text", LAYOUTS)
def test_passes_are_those_of_the_virtual_gpu(module: fp.Module, text: str, bits: int) -> None:
    layout = parse_layout(text)
    accesses = {access.order: access for access in bank_accesses(layout, bits)}
    grid = rows_of(layout)
    orders = {
        "rows": [index for row in grid for index in row],
        "columns": [index for column in zip(*grid, strict=True) for index in column],
    }
    for order, indices in orders.items():
        access = accesses[order]
        assert (access.passes, access.conflicts) == counted(module, indices, bits), order


def matrices(layout: AnyLayout) -> int:
    (access,) = (access for access in bank_accesses(layout, 16) if access.order == "matrices")
    return access.ways


def test_a_swizzle_takes_the_conflicts_of_ldmatrix_away() -> None:
    assert matrices(parse_layout("(8,64):(64,1)")) == 8
    assert matrices(parse_layout("Sw<3,3,3> o 0 o (8,64):(64,1)")) == 1
    assert matrices(parse_layout("(64,8):(1,64)")) == 8  # read by ldmatrix.trans
    assert matrices(parse_layout("(8,64):(72,1)")) == 1  # padding does it, too


@pytest.mark.parametrize("text", ["(8,64):(65,1)", "(8,64):(64,2)", "(7,64):(64,1)", "(8,4):(8,1)"])
def test_ldmatrix_needs_rows_of_16_bytes_in_one_piece(text: str) -> None:
    assert all(access.order != "matrices" for access in bank_accesses(parse_layout(text), 16))


def test_bank() -> None:
    assert [bank(index, 16) for index in (0, 1, 2, 63, 64)] == [0, 0, 1, 31, 0]
    assert [bank(index, 64) for index in (0, 1, 15, 16)] == [0, 2, 30, 0]
    assert bank(33, 4) == 4
