"""The host side of the transpose rungs: checks, output, and the shape of each launch."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from flashpath.errors import FlashpathError
from flashpath.kernels.arguments import FLOATS, output, require_apart, require_tensor, widest_pack
from flashpath.kernels.building import CPP_TYPES, cuda_kernel, dtype_name, triton_device

FOLDER = Path(__file__).parent
COPY = FOLDER / "copy.cu"
NAIVE = FOLDER / "naive.cu"
COALESCED = FOLDER / "coalesced.cu"
PADDED = FOLDER / "padded.cu"
SWIZZLED = FOLDER / "swizzled.cu"
VECTORIZED = FOLDER / "vectorized.cu"
TRITON = FOLDER / "triton_transpose.py"

OPERATIONS = ("transpose", "copy")
DTYPES = (*FLOATS, "int32")
COPY_THREADS = 1024
COPY_PACKS = 4  # that a thread of copy holds at once
TILE = 32  # of the first rungs, with a warp to a row and TILE_ROWS rows at a time
TILE_ROWS = 8
THREADS = 256  # of vectorized
TILE_BYTES = 256  # of a row of its tile, and of Triton's
TRITON_BYTES_PER_WARP = 4096


def prepare(x: Any, operation: str, out: Any | None, only: str | None = None) -> Any:
    """Check the arguments; returns the output tensor. `only` is the one operation of a rung that has one."""
    if operation not in OPERATIONS:
        raise FlashpathError(
            "kernels.transpose-operation", operation=f"{operation!r}", operations=list(OPERATIONS)
        )
    if only is not None and operation != only:
        other = "copy" if only == "transpose" else "vectorized"
        raise FlashpathError("kernels.transpose-only", only=only, operation=operation, other=other)
    require_tensor("transpose", "x", x, DTYPES, dims=2)
    rows, cols = x.shape
    result = output(
        "transpose", out, (rows, cols) if operation == "copy" else (cols, rows), x.dtype, x.device
    )
    if out is not None:
        require_apart("transpose", out, x)
    return result


def copy(
    x: Any,
    operation: str = "copy",
    out: Any | None = None,
    *,
    threads: int = COPY_THREADS,
    packs: int = COPY_PACKS,
) -> Any:
    result, n = prepare(x, operation, out, only="copy"), x.numel()
    if n:
        width = widest_pack(x, result)
        kernel = cuda_kernel(COPY, f"copy<{CPP_TYPES[dtype_name(x)]}, {width}, {threads}, {packs}>", x)
        kernel[-(-max(n // width, 1) // (threads * packs)), threads](n, x, result)
    return result


def _by_tiles(file: Path, x: Any, operation: str, out: Any | None, rows_at_once: int) -> Any:
    result, (rows, cols) = prepare(x, operation, out, only="transpose"), x.shape
    if rows and cols:
        kernel = cuda_kernel(file, f"transpose<{CPP_TYPES[dtype_name(x)]}, {rows_at_once}>", x)
        kernel[tiles(rows, cols, TILE), (TILE, rows_at_once)](rows, cols, x, result)
    return result


def tiles(rows: int, cols: int, side: int) -> int:
    """How many square tiles cover the matrix."""
    return -(-rows // side) * -(-cols // side)


def naive(
    x: Any, operation: str = "transpose", out: Any | None = None, *, rows_at_once: int = TILE_ROWS
) -> Any:
    return _by_tiles(NAIVE, x, operation, out, rows_at_once)


def coalesced(
    x: Any, operation: str = "transpose", out: Any | None = None, *, rows_at_once: int = TILE_ROWS
) -> Any:
    return _by_tiles(COALESCED, x, operation, out, rows_at_once)


def padded(
    x: Any, operation: str = "transpose", out: Any | None = None, *, rows_at_once: int = TILE_ROWS
) -> Any:
    return _by_tiles(PADDED, x, operation, out, rows_at_once)


def swizzled(
    x: Any, operation: str = "transpose", out: Any | None = None, *, rows_at_once: int = TILE_ROWS
) -> Any:
    return _by_tiles(SWIZZLED, x, operation, out, rows_at_once)


def vectorized(
    x: Any, operation: str = "transpose", out: Any | None = None, *, threads: int = THREADS
) -> Any:
    result, (rows, cols) = prepare(x, operation, out, only="transpose"), x.shape
    if rows and cols:
        width, side = square_width(x, result), TILE_BYTES // x.element_size()
        whole = "true" if rows % side == 0 and cols % side == 0 else "false"
        arguments = f"{CPP_TYPES[dtype_name(x)]}, {width}, {whole}, {threads}"
        kernel = cuda_kernel(VECTORIZED, f"transpose<{arguments}>", x)
        kernel[tiles(rows, cols, side), threads](rows, cols, x, result)
    return result


def square_width(x: Any, out: Any) -> int:
    """The widest pack that rows of both sides are made of."""
    return min(widest_pack(x, multiple=x.shape[1]), widest_pack(out, multiple=x.shape[0]))


def triton_kernel() -> Any:
    return importlib.import_module("flashpath.kernels.transpose.triton_transpose").transpose_kernel


def triton(
    x: Any,
    operation: str = "transpose",
    out: Any | None = None,
    *,
    tile: int | None = None,
    warps: int | None = None,
) -> Any:
    result, (rows, cols) = prepare(x, operation, out, only="transpose"), x.shape
    if rows and cols:
        # Tiles of single elements are smaller: each of them takes a register.
        is_wide = square_width(x, result) * x.element_size() == 16
        side = tile or TILE_BYTES // (x.element_size() if is_wide else 4)
        warps = warps or max(4, side * side * x.element_size() // TRITON_BYTES_PER_WARP)
        with triton_device(x):
            triton_kernel()[(tiles(rows, cols, side),)](x, result, rows, cols, TILE=side, num_warps=warps)
    return result
