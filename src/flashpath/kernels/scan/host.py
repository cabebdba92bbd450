"""The host side of the scan rungs: scratch memory, and the shape of each launch."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from flashpath.kernels.building import CPP_TYPES, cuda_kernel, dtype_name, sm_count, triton_device
from flashpath.kernels.scan.problem import FOLDER, THREADS, access_width, functor, prepare
from flashpath.kernels.scan.single_pass import WHOLE_RING, ring_for
from flashpath.kernels.where import Where
from flashpath.messages import Message

HILLIS_STEELE = FOLDER / "hillis_steele.cu"
BLELLOCH = FOLDER / "blelloch.cu"
BLELLOCH_PADDED = FOLDER / "blelloch_padded.cu"
WARP = FOLDER / "warp.cu"
BY_ROW = FOLDER / "by_row.cu"
TRITON = FOLDER / "triton_scan.py"
CUB_BLOCK = FOLDER / "cub_block.cu"

STATE_BYTES = 16  # the largest state of an operation: a 64-bit value, and whether there is a head
LONG_ROW = 16384  # elements: two tiles of float32
# Elements from which on lookahead is faster than decoupled_lookback, between two sizes that were measured.
LONG_VECTOR = 2**23
BYTES_FOR_A_WARP = 8192  # up to so many, by_row gives a row to a warp, else to a block
TRITON_BLOCKS = (256, 512, 1024, 2048)  # few, since each is compiled
TRITON_WARPS = 2
TRITON_PARTS_PER_SM = 32


# ---- Several launches: totals of blocks, their scan, and the blocks again ------------------------------


def _levels(
    file: Path, per_block: int, x: Any, op: str, exclusive: bool, flags: Any | None, out: Any | None
) -> Any:
    rows, n, heads, result = prepare(x, op, flags, out)
    if rows > 1:  # rows are segments whose heads are known
        heads = _with_rows_as_segments(x, heads)
    if x.numel():
        kind = functor(x, op, heads)
        types = f"{CPP_TYPES[dtype_name(x)]}, {kind}::Out"
        _level(file, per_block, kind, types, rows * n, x, heads, exclusive, result)
    return result


def _with_rows_as_segments(x: Any, heads: Any | None) -> Any:
    import torch

    all_heads: Any = (
        torch.zeros(x.shape, dtype=torch.uint8, device=x.device) if heads is None else heads.clone()
    )
    all_heads[:, :1] = 1
    return all_heads


def _level(
    file: Path,
    per_block: int,
    kind: str,
    types: str,
    n: int,
    source: Any,
    heads: Any | None,
    exclusive: bool,
    result: Any,
) -> None:
    """Scan n elements; those of deeper levels are blocks' totals, whose exclusive scan gives the carries."""
    import torch

    kernel = cuda_kernel(file, f"scan<{kind}, {types}>", source)
    blocks = -(-n // per_block)
    carries = None
    if blocks > 1:
        totals, carries = (
            torch.empty(blocks * STATE_BYTES, dtype=torch.uint8, device=source.device) for _ in range(2)
        )
        kernel[blocks, THREADS](n, source, heads, exclusive, None, totals, None)
        state = f"{kind}::State"
        _level(file, per_block, kind, f"{state}, {state}", blocks, totals, None, True, carries)
    kernel[blocks, THREADS](n, source, heads, exclusive, carries, None, result)


def hillis_steele(
    x: Any, op: str = "sum", exclusive: bool = False, flags: Any | None = None, out: Any | None = None
) -> Any:
    return _levels(HILLIS_STEELE, THREADS, x, op, exclusive, flags, out)


def blelloch(
    x: Any, op: str = "sum", exclusive: bool = False, flags: Any | None = None, out: Any | None = None
) -> Any:
    return _levels(BLELLOCH, 2 * THREADS, x, op, exclusive, flags, out)


def blelloch_padded(
    x: Any, op: str = "sum", exclusive: bool = False, flags: Any | None = None, out: Any | None = None
) -> Any:
    return _levels(BLELLOCH_PADDED, 2 * THREADS, x, op, exclusive, flags, out)


def warp(
    x: Any, op: str = "sum", exclusive: bool = False, flags: Any | None = None, out: Any | None = None
) -> Any:
    return _levels(WARP, THREADS, x, op, exclusive, flags, out)


def cub_block(
    x: Any, op: str = "sum", exclusive: bool = False, flags: Any | None = None, out: Any | None = None
) -> Any:
    return _levels(CUB_BLOCK, 8 * THREADS, x, op, exclusive, flags, out)


# ---- One launch: of blocks that meet (single_pass.py), or of rows that do not ---------------------------


def by_row(
    x: Any, op: str = "sum", exclusive: bool = False, flags: Any | None = None, out: Any | None = None
) -> Any:
    rows, n, heads, result = prepare(x, op, flags, out)
    if not x.numel():
        return result
    width = access_width(x, heads, result, n if rows > 1 else None)
    warps = 1 if n * x.element_size() <= BYTES_FOR_A_WARP else THREADS // 32
    name = f"scan<{functor(x, op, heads)}, {warps}, {width}, {CPP_TYPES[dtype_name(x)]}>"
    blocks = -(-rows * warps * 32 // THREADS)
    cuda_kernel(BY_ROW, name, x)[blocks, THREADS](rows, n, x, heads, exclusive, result)
    return result


_BY_ROW = "by_row", Message("kernels.scan-by-row")
_LOOKAHEAD = "lookahead", Message("kernels.scan-long")
_LOOKBACK = "decoupled_lookback", Message("kernels.scan-tiles")


def chosen(x: Any, *_: Any, where: Where | None = None) -> tuple[str, Message]:
    """Returns the rung for these vectors, and why: by rows, or by tiles; a ring of tiles for a long vector.

    A smaller ring is slower than decoupled_lookback.
    """
    if x.dim() == 2 and (x.shape[1] <= LONG_ROW or x.shape[0] >= 2 * sm_count(x, where)):
        return _BY_ROW
    return _LOOKAHEAD if x.numel() >= LONG_VECTOR and ring_for(x, where) == WHOLE_RING else _LOOKBACK


# ---- Triton --------------------------------------------------------------------------------------------


def triton_kernel() -> Any:
    return importlib.import_module("flashpath.kernels.scan.triton_scan").scan_kernel


def triton(
    x: Any, op: str = "sum", exclusive: bool = False, flags: Any | None = None, out: Any | None = None
) -> Any:
    import torch

    rows, n, heads, result = prepare(x, op, flags, out)
    if not x.numel():
        return result
    block = next((block for block in TRITON_BLOCKS if n <= block), TRITON_BLOCKS[-1])
    blocks = -(-n // block)
    most = max(1, min(blocks, sm_count(x) * TRITON_PARTS_PER_SM // rows))
    length = -(-blocks // most) * block
    parts = -(-n // length)
    power = 1 << (parts - 1).bit_length()
    kernel = triton_kernel()
    options = {"OP": op, "EXCLUSIVE": exclusive, "PARTS": power, "BLOCK": block, "num_warps": TRITON_WARPS}
    with triton_device(x):
        totals = cuts = None
        if parts > 1:
            dtype = torch.float32 if x.dtype.is_floating_point else result.dtype
            totals = torch.empty(rows * parts, dtype=dtype, device=x.device)
            cuts = (
                torch.empty(rows * parts, dtype=torch.int32, device=x.device) if flags is not None else None
            )
            kernel[(rows, parts)](x, heads, totals, cuts, result, n, length, TOTALS_ONLY=True, **options)
        kernel[(rows, parts)](x, heads, totals, cuts, result, n, length, TOTALS_ONLY=False, **options)
    return result
