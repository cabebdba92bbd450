"""The host side of the warp rungs: which operations each knows, checks, outputs and launches."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from flashpath.errors import FlashpathError
from flashpath.kernels.arguments import FLOATS, output, require_apart, require_tensor
from flashpath.kernels.building import CPP_TYPES, cuda_kernel, dtype_name, triton_device

FOLDER = Path(__file__).parent
SHARED_MEMORY = FOLDER / "shared_memory.cu"
BROADCAST = FOLDER / "broadcast.cu"
REDUCE_SHUFFLE = FOLDER / "reduce_shuffle.cu"
REDUCE_INSTRUCTION = FOLDER / "reduce_instruction.cu"
VOTE = FOLDER / "vote.cu"
MATCH = FOLDER / "match.cu"
COMPACT_ATOMICS = FOLDER / "compact_atomics.cu"
COMPACT_ACTIVE = FOLDER / "compact_active.cu"
COMPACT_BALLOT = FOLDER / "compact_ballot.cu"
COMPACT_BLOCK = FOLDER / "compact_block.cu"
COMPACT = FOLDER / "compact.cu"
TRITON = FOLDER / "triton_warp.py"

# What is computed of each group of 32 elements, and the type of it; None: that of the elements.
OF_EACH: dict[str, str | None] = {"broadcast": None, "match": "int32"}  # one result for each element
OF_GROUP: dict[str, str | None] = {"sum": None, "any": "bool", "all": "bool", "ballot": "int32"}
OF_GROUPS = (*OF_EACH, *OF_GROUP)
COMPACTIONS = ("compact", "compact_unordered")
OPERATIONS = (*OF_GROUPS, *COMPACTIONS)
REGISTERS = ("float32", "int32")  # what fills the register that lanes exchange
DTYPES = (*FLOATS, "int32")

THREADS = 256
TILE = 4096  # of compact_block and compact
TRITON_BLOCK = 1024
TRITON_MATCH_BLOCK = 128  # a group is compared with itself: 32 times the elements


def require_operation(rung: str, op: str, known: Sequence[str]) -> None:
    if op not in known:
        raise FlashpathError("kernels.warp-operation", rung=rung, op=f"{op!r}", known=list(known))


# ---- Groups of 32 --------------------------------------------------------------------------------------


def prepare(rung: str, known: Sequence[str], x: Any, op: str, out: Any | None) -> Any:
    """Check the arguments of an operation on groups of 32; returns the output tensor."""
    import torch

    require_operation(rung, op, known)
    require_tensor(rung, "x", x, REGISTERS, dims=1)
    kind = (OF_EACH | OF_GROUP)[op]
    n = x.numel()
    shape = (n if op in OF_EACH else -(-n // 32),)
    result = output(rung, out, shape, x.dtype if kind is None else getattr(torch, kind), x.device)
    require_apart(rung, result, x)
    return result


def _by_warps(file: Path, known: Sequence[str], x: Any, op: str, out: Any | None) -> Any:
    result, n = prepare(file.stem, known, x, op, out), x.numel()
    if n:
        name = op if file == REDUCE_INSTRUCTION else f"{op}<{CPP_TYPES[dtype_name(x)]}>"
        cuda_kernel(file, name, x)[-(-n // THREADS), THREADS](n, x, result)
    return result


def shared_memory(x: Any, op: str, out: Any | None = None) -> Any:
    return _by_warps(SHARED_MEMORY, OF_GROUPS, x, op, out)


def broadcast(x: Any, op: str = "broadcast", out: Any | None = None) -> Any:
    return _by_warps(BROADCAST, ("broadcast",), x, op, out)


def reduce_shuffle(x: Any, op: str = "sum", out: Any | None = None) -> Any:
    return _by_warps(REDUCE_SHUFFLE, ("sum",), x, op, out)


def reduce_instruction(x: Any, op: str = "sum", out: Any | None = None) -> Any:
    require_tensor("reduce_instruction", "x", x, ("int32",), dims=1)
    return _by_warps(REDUCE_INSTRUCTION, ("sum",), x, op, out)


def vote(x: Any, op: str = "ballot", out: Any | None = None) -> Any:
    return _by_warps(VOTE, ("any", "all", "ballot"), x, op, out)


def match(x: Any, op: str = "match", out: Any | None = None) -> Any:
    return _by_warps(MATCH, ("match",), x, op, out)


def triton_kernel() -> Any:
    return importlib.import_module("flashpath.kernels.warp.triton_warp").warp_kernel


def triton(x: Any, op: str, out: Any | None = None) -> Any:
    result, n = prepare("triton", OF_GROUPS, x, op, out), x.numel()
    if n:
        block = TRITON_MATCH_BLOCK if op == "match" else TRITON_BLOCK
        with triton_device(x):
            triton_kernel()[(-(-n // block),)](x, result, n, OP=op, BLOCK=block)
    return result


# ---- Compaction ----------------------------------------------------------------------------------------


def prepare_compaction(
    rung: str, known: Sequence[str], x: Any, op: str, threshold: float, out: Any | None
) -> tuple[Any, Any]:
    """Check the arguments of a compaction; returns room for the elements, and their count at 0."""
    import torch

    require_operation(rung, op, known)
    require_tensor(rung, "x", x, DTYPES, dims=1)
    if dtype_name(x) == "int32" and abs(threshold) >= 2**24:
        raise FlashpathError("kernels.warp-threshold", rung=rung, threshold=threshold)
    result = output(rung, out, x.shape, x.dtype, x.device)
    require_apart(rung, result, x)
    return result, torch.zeros((), dtype=torch.int64, device=x.device)


def _unordered(file: Path, per_block: int, x: Any, op: str, threshold: float, out: Any | None) -> Any:
    import torch

    values, count = prepare_compaction(file.stem, ("compact_unordered",), x, op, threshold, out)
    n = x.numel()
    if n:
        kernel = cuda_kernel(file, f"compact<{CPP_TYPES[dtype_name(x)]}>", x)
        kernel[-(-n // per_block), THREADS](n, x, threshold, values, count.view(torch.uint64))
    return values, count


def compact_atomics(
    x: Any, op: str = "compact_unordered", threshold: float = 0.0, out: Any | None = None
) -> Any:
    return _unordered(COMPACT_ATOMICS, THREADS, x, op, threshold, out)


def compact_active(
    x: Any, op: str = "compact_unordered", threshold: float = 0.0, out: Any | None = None
) -> Any:
    return _unordered(COMPACT_ACTIVE, THREADS, x, op, threshold, out)


def compact_ballot(
    x: Any, op: str = "compact_unordered", threshold: float = 0.0, out: Any | None = None
) -> Any:
    return _unordered(COMPACT_BALLOT, THREADS, x, op, threshold, out)


def compact_block(
    x: Any, op: str = "compact_unordered", threshold: float = 0.0, out: Any | None = None
) -> Any:
    return _unordered(COMPACT_BLOCK, TILE, x, op, threshold, out)


def compact(x: Any, op: str = "compact", threshold: float = 0.0, out: Any | None = None) -> Any:
    import torch

    values, count = prepare_compaction("compact", COMPACTIONS, x, op, threshold, out)
    n = x.numel()
    if n:
        tiles = -(-n // TILE)
        states = torch.zeros(tiles + 1, dtype=torch.int64, device=x.device).view(torch.uint64)
        kernel = cuda_kernel(COMPACT, f"compact<{CPP_TYPES[dtype_name(x)]}>", x)
        kernel[tiles, THREADS](
            n, x, threshold, values, count.view(torch.uint64), states[:tiles], states[tiles:]
        )
    return values, count
