"""The host side of the reduction rungs: checks, output, scratch memory, and the shape of each launch."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any, NamedTuple

from flashpath.errors import FlashpathError
from flashpath.kernels.arguments import FLOATS, output, require_tensor
from flashpath.kernels.building import CPP_TYPES, cuda_kernel, dtype_name, sm_count, triton_device
from flashpath.kernels.counters import counters_at_zero
from flashpath.kernels.where import Where
from flashpath.messages import Message

FOLDER = Path(__file__).parent
DIVERGENT = FOLDER / "divergent.cu"
BANK_CONFLICTED = FOLDER / "bank_conflicted.cu"
SEQUENTIAL = FOLDER / "sequential.cu"
FIRST_ADD_ON_LOAD = FOLDER / "first_add_on_load.cu"
WARP_SHUFFLE = FOLDER / "warp_shuffle.cu"
VECTORIZED = FOLDER / "vectorized.cu"
SINGLE_PASS = FOLDER / "single_pass.cu"
BY_ROW = FOLDER / "by_row.cu"
TRITON = FOLDER / "triton_reduction.py"
CUB_BLOCK = FOLDER / "cub_block.cu"

# And how kernels spell them.
OPERATIONS = {"sum": "Sum", "max": "Max", "min": "Min", "mean": "Mean", "argmax": "Argmax"}
DTYPES = (*FLOATS, "int32")
THREADS = 256
STATE_BYTES = 16  # the largest state of an operation: a value and an index
# Of a grid that walks through the tensor: all are resident at once, so that none waits for another to end.
BLOCKS_PER_SM = 4
# Up to so many bytes a row is for 8 threads, and for a warp: one round, and eight. A block for each row of
# 8 KB has two packs a thread in flight and a barrier to wait at, and is slower.
BYTES_FOR_8_LANES = 512
BYTES_FOR_A_WARP = 16384
TRITON_BLOCKS = (256, 1024, 4096)  # few, since each is compiled


class Problem(NamedTuple):
    """A checked reduction: `out[r]` of `rows` rows of n elements each; the whole tensor is one row."""

    rows: int
    n: int
    out: Any


def prepare(x: Any, op: str, dim: int | None, out: Any | None, *, rows_allowed: bool = True) -> Problem:
    """Check the arguments; makes the output where there is none."""
    import torch

    if op not in OPERATIONS:
        raise FlashpathError("kernels.reduce-operation", op=f"{op!r}", operations=list(OPERATIONS))
    require_tensor("reduction", "x", x, DTYPES)
    if op == "mean" and x.dtype == torch.int32:
        raise FlashpathError("kernels.reduce-int-mean")
    if dim is not None and (x.ndim != 2 or dim not in (1, -1)):
        raise FlashpathError("kernels.reduce-dim", dim=dim, shape=str(tuple(x.shape)))
    if dim is not None and not rows_allowed:
        raise FlashpathError("kernels.reduce-whole-only")
    rows, n = (1, x.numel()) if dim is None else x.shape
    if n == 0 and op in ("max", "min", "argmax"):
        raise FlashpathError("kernels.reduce-nothing", op=op)
    shape = () if dim is None else (rows,)
    dtype = torch.int64 if op == "argmax" or (x.dtype == torch.int32 and op == "sum") else x.dtype
    return Problem(rows, n, output("reduction", out, shape, dtype, x.device))


def functor(x: Any, op: str) -> str:
    """The operation's C++ name: `Sum<float>`."""
    return f"{OPERATIONS[op]}<{CPP_TYPES[dtype_name(x)]}>"


def scratch(x: Any, states: int) -> Any:
    """Memory for so many states where x is; a kernel writes each before it reads it."""
    import torch

    return torch.empty(states * STATE_BYTES, dtype=torch.uint8, device=x.device)


# ---- Trees: a block reduces what it has loaded ---------------------------------------------------------


def _tree(file: Path, per_block: int, x: Any, op: str, dim: int | None, out: Any | None) -> Any:
    """Launch after launch on the partial results of the last, until one block does it all."""
    count, result = prepare(x, op, dim, out, rows_allowed=False)[1:]
    kind = functor(x, op)
    source, n, element = x, count, CPP_TYPES[dtype_name(x)]
    while True:
        blocks = max(1, -(-n // per_block))
        partials = scratch(x, blocks) if blocks > 1 else None
        kernel = cuda_kernel(file, f"reduce<{kind}, {element}>", x)
        kernel[blocks, THREADS](n, source, count, partials, result)
        if blocks == 1:
            return result
        source, n, element = partials, blocks, f"{kind}::State"


def divergent(x: Any, op: str = "sum", dim: int | None = None, out: Any | None = None) -> Any:
    return _tree(DIVERGENT, THREADS, x, op, dim, out)


def bank_conflicted(x: Any, op: str = "sum", dim: int | None = None, out: Any | None = None) -> Any:
    return _tree(BANK_CONFLICTED, THREADS, x, op, dim, out)


def sequential(x: Any, op: str = "sum", dim: int | None = None, out: Any | None = None) -> Any:
    return _tree(SEQUENTIAL, THREADS, x, op, dim, out)


def first_add_on_load(x: Any, op: str = "sum", dim: int | None = None, out: Any | None = None) -> Any:
    return _tree(FIRST_ADD_ON_LOAD, 2 * THREADS, x, op, dim, out)


def warp_shuffle(x: Any, op: str = "sum", dim: int | None = None, out: Any | None = None) -> Any:
    return _tree(WARP_SHUFFLE, 2 * THREADS, x, op, dim, out)


def cub_block(x: Any, op: str = "sum", dim: int | None = None, out: Any | None = None) -> Any:
    return _tree(CUB_BLOCK, 8 * THREADS, x, op, dim, out)


# ---- Grids that walk through the tensor ----------------------------------------------------------------


def blocks_for(x: Any, rows: int, n: int, blocks_per_sm: int = BLOCKS_PER_SM) -> int:
    """Blocks per row: enough for one round of loads each, and no more than fill the GPU."""
    packs = 2 * x.element_size()  # in flight: kPacksInFlight
    one_round = -(-n * x.element_size() // (THREADS * 16 * packs))
    return max(1, min(one_round, sm_count(x) * blocks_per_sm // rows))


def vectorized(x: Any, op: str = "sum", dim: int | None = None, out: Any | None = None) -> Any:
    _, n, result = prepare(x, op, dim, out, rows_allowed=False)
    kind, blocks = functor(x, op), blocks_for(x, 1, n)
    partials = scratch(x, blocks) if blocks > 1 else None
    reduce = cuda_kernel(VECTORIZED, f"reduce<{kind}, {CPP_TYPES[dtype_name(x)]}>", x)
    reduce[blocks, THREADS](n, x, partials, result)
    if blocks > 1:
        cuda_kernel(VECTORIZED, f"finish<{kind}>", x)[1, THREADS](n, blocks, partials, result)
    return result


def single_pass(
    x: Any,
    op: str = "sum",
    dim: int | None = None,
    out: Any | None = None,
    *,
    blocks_per_sm: int = BLOCKS_PER_SM,
) -> Any:
    rows, n, result = prepare(x, op, dim, out)
    if rows:
        blocks = blocks_for(x, rows, n, blocks_per_sm)
        kernel = cuda_kernel(SINGLE_PASS, f"reduce<{functor(x, op)}, {CPP_TYPES[dtype_name(x)]}>", x)
        partials = scratch(x, rows * blocks)
        kernel[rows * blocks, THREADS](n, x, blocks, partials, counters_at_zero(x, rows), result)
    return result


def by_row(x: Any, op: str = "sum", dim: int | None = -1, out: Any | None = None) -> Any:
    if dim is None:
        raise FlashpathError("kernels.reduce-rows-only")
    rows, n, result = prepare(x, op, dim, out)
    if rows:
        row_bytes = n * x.element_size()
        lanes = 8 if row_bytes <= BYTES_FOR_8_LANES else 32 if row_bytes <= BYTES_FOR_A_WARP else THREADS
        kernel = cuda_kernel(BY_ROW, f"reduce<{functor(x, op)}, {lanes}, {CPP_TYPES[dtype_name(x)]}>", x)
        kernel[-(-rows * lanes // THREADS), THREADS](rows, n, x, result)
    return result


# ---- The choice ----------------------------------------------------------------------------------------

_MANY_ROWS = "by_row", Message("kernels.reduce-many-rows")
_FEW_ROWS = "single_pass", Message("kernels.reduce-few-rows")
_WHOLE = "single_pass", Message("kernels.reduce-whole")


def chosen(
    x: Any, _op: str = "sum", dim: int | None = None, *, where: Where | None = None
) -> tuple[str, Message]:
    """Returns the rung that reduces all of x, or each of its rows, and why."""
    if dim is None:
        return _WHOLE
    return _MANY_ROWS if x.shape[0] >= sm_count(x, where) else _FEW_ROWS


# ---- Triton --------------------------------------------------------------------------------------------


def triton_kernel() -> Any:
    return importlib.import_module("flashpath.kernels.reduction.triton_reduction").reduce_kernel


def triton(x: Any, op: str = "sum", dim: int | None = None, out: Any | None = None) -> Any:
    import torch

    rows, n, result = prepare(x, op, dim, out)
    if not rows:
        return result
    block = next((block for block in TRITON_BLOCKS if n <= block), TRITON_BLOCKS[-1])
    splits = max(1, min(-(-n // block), sm_count(x) * BLOCKS_PER_SM // rows))
    kernel = triton_kernel()
    with triton_device(x):
        if splits == 1:
            kernel[(rows, 1)](x, None, result, None, n, n, OP=op, IS_LAST=True, BLOCK=block)
            return result
        values = torch.empty(rows * splits, dtype=_partial_dtype(x, op), device=x.device)
        indices = torch.empty(rows * splits, dtype=torch.int64, device=x.device) if op == "argmax" else None
        kernel[(rows, splits)](x, None, values, indices, n, n, OP=op, IS_LAST=False, BLOCK=block)
        kernel[(rows, 1)](
            values, indices, result, None, splits, n, OP=op, IS_LAST=True, BLOCK=TRITON_BLOCKS[0]
        )
    return result


def _partial_dtype(x: Any, op: str) -> Any:
    """What Triton programs leave for each other: nothing is rounded before the end."""
    import torch

    if x.dtype.is_floating_point:
        return torch.float32
    return torch.int64 if op == "sum" else torch.int32
