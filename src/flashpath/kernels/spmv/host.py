"""The host side of the spmv rungs: checks, output, scratch memory, and the shape of each launch."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any, NamedTuple

from flashpath.errors import FlashpathError
from flashpath.kernels.arguments import (
    FLOATS,
    output,
    require_apart,
    require_like,
    require_tensor,
    widest_pack,
)
from flashpath.kernels.building import CPP_TYPES, cuda_kernel, dtype_name, triton_device

FOLDER = Path(__file__).parent
THREAD_PER_ROW = FOLDER / "thread_per_row.cu"
WARP_PER_ROW = FOLDER / "warp_per_row.cu"
MERGE_BASED = FOLDER / "merge_based.cu"
TRITON = FOLDER / "triton_spmv.py"

DTYPES = (*FLOATS, "float64")
INDICES = {"int32": "int", "int64": "long long"}
THREADS = 256
ITEMS = 7  # steps of a thread of merge_based
PARTIAL_BYTES = 24  # a Partial of merge_based, at most
# Of warp_per_row: rows of so few entries get a thread each; neighbours' rows then share lines anyhow.
SHORT_ROW = 8
TRITON_TILE = 1024  # rows × entries of a program
TRITON_WIDEST = 64


class Problem(NamedTuple):
    """A checked product."""

    rows: int
    nnz: int
    y: Any


def prepare(row_ptr: Any, col: Any, val: Any, x: Any, out: Any | None) -> Problem:
    """Check the arguments; makes the output where there is none.

    What a check would have to wait for the GPU for is the caller's promise: row_ptr rises from 0 to nnz, and
    every col is one of x's indices.
    """
    require_tensor("spmv", "row_ptr", row_ptr, tuple(INDICES), 1)
    require_tensor("spmv", "val", val, DTYPES, 1)
    require_like("spmv", "col", col, val.shape, row_ptr.dtype, val.device)
    require_tensor("spmv", "x", x, (dtype_name(val),), 1)
    if row_ptr.device != val.device or x.device != val.device:
        raise FlashpathError(
            "kernels.spmv-devices", device=str(row_ptr.device), device2=str(val.device), device3=str(x.device)
        )
    if row_ptr.numel() == 0:
        raise FlashpathError("kernels.spmv-empty")
    rows = row_ptr.numel() - 1
    y = output("spmv", out, (rows,), val.dtype, val.device)
    if out is not None:
        require_apart("spmv", y, row_ptr, col, val, x)
    return Problem(rows, val.numel(), y)


def types(row_ptr: Any, val: Any) -> tuple[str, str, str]:
    """The types of elements, sums and indices, as C++ names them."""
    element = dtype_name(val)
    return CPP_TYPES[element], "double" if element == "float64" else "float", INDICES[dtype_name(row_ptr)]


def thread_per_row(row_ptr: Any, col: Any, val: Any, x: Any, out: Any | None = None) -> Any:
    rows, _, y = prepare(row_ptr, col, val, x, out)
    if rows:
        element, _, index = types(row_ptr, val)
        kernel = cuda_kernel(THREAD_PER_ROW, f"spmv<{element}, {index}>", val)
        kernel[-(-rows // THREADS), THREADS](rows, row_ptr, col, val, x, y)
    return y


def width_for(col: Any, val: Any) -> int:
    """How many entries a thread loads at once: as 16 bytes of indices and 16 of values, or one."""
    is_narrow = col.element_size() == val.element_size() == 4
    return 4 if is_narrow and widest_pack(col, val) == 4 else 1


def lanes_for(rows: int, nnz: int, width: int = 1) -> int:
    """How many threads share a row of warp_per_row: a power of two from 1 to 32, `width` entries each."""
    mean = nnz // rows
    return 1 if mean < SHORT_ROW else min(32, 1 << ((mean // width).bit_length() - 1))


def warp_per_row(
    row_ptr: Any, col: Any, val: Any, x: Any, out: Any | None = None, *, lanes: int | None = None
) -> Any:
    rows, nnz, y = prepare(row_ptr, col, val, x, out)
    if rows:
        element, _, index = types(row_ptr, val)
        width = 1 if nnz // rows < SHORT_ROW else width_for(col, val)
        lanes = lanes or lanes_for(rows, nnz, width)
        kernel = cuda_kernel(WARP_PER_ROW, f"spmv<{lanes}, {width}, {element}, {index}>", val)
        kernel[-(-rows * lanes // THREADS), THREADS](rows, row_ptr, col, val, x, y)
    return y


def merge_based(
    row_ptr: Any, col: Any, val: Any, x: Any, out: Any | None = None, *, items: int = ITEMS
) -> Any:
    import torch

    rows, nnz, y = prepare(row_ptr, col, val, x, out)
    if rows:
        arguments = ", ".join([str(items), str(width_for(col, val)), *types(row_ptr, val)])
        tiles = -(-(rows + nnz) // (THREADS * items))
        partials = torch.empty(tiles * PARTIAL_BYTES, dtype=torch.uint8, device=val.device)
        spmv = cuda_kernel(MERGE_BASED, f"spmv<{arguments}>", val)
        spmv[tiles, THREADS](rows, nnz, row_ptr, col, val, x, y, partials)
        if tiles > 1:
            finish = cuda_kernel(MERGE_BASED, f"finish<{arguments}>", val)
            finish[-(-tiles * 32 // THREADS), THREADS](tiles, row_ptr, partials, y)
    return y


def triton_kernel() -> Any:
    return importlib.import_module("flashpath.kernels.spmv.triton_spmv").spmv_kernel


def triton(row_ptr: Any, col: Any, val: Any, x: Any, out: Any | None = None) -> Any:
    rows, nnz, y = prepare(row_ptr, col, val, x, out)
    if rows:
        width = min(TRITON_WIDEST, 1 << (nnz // rows).bit_length())
        height = TRITON_TILE // width
        grid = (-(-rows // height),)
        with triton_device(val):
            triton_kernel()[grid](row_ptr, col, val, x, y, rows, ROWS=height, WIDTH=width)
    return y
