"""The host side of the softmax rungs: checks, output, scratch memory, and the shape of each launch."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any, NamedTuple

from flashpath.errors import FlashpathError
from flashpath.kernels.arguments import FLOATS, output, require_apart, require_like, require_tensor
from flashpath.kernels.building import (
    CPP_TYPES,
    cuda_kernel,
    dtype_name,
    max_shared_per_block,
    sm_count,
    triton_device,
)
from flashpath.kernels.common.softmax.packing import Packing, packing
from flashpath.kernels.counters import counters_at_zero
from flashpath.kernels.where import Where
from flashpath.messages import Message

FOLDER = Path(__file__).parent
THREE_PASS = FOLDER / "three_pass.cu"
ONLINE = FOLDER / "online.cu"
SHARED = FOLDER / "shared.cu"
WARP_PER_ROW = FOLDER / "warp_per_row.cu"
RESIDENT = FOLDER / "resident.cu"
SPLIT_ROWS = FOLDER / "split_rows.cu"
MEETING = FOLDER / "meeting.cu"
BACKWARD_SIMPLE = FOLDER / "backward_simple.cu"
BACKWARD_RESIDENT = FOLDER / "backward_resident.cu"
TRITON = FOLDER / "triton_softmax.py"

WITH_DOUBLE = (*FLOATS, "float64")  # rungs that gradcheck can use
THREADS = 256  # of every rung that has a block per row, or per part of one
WARP_PER_ROW_THREADS = 128
MOST_PER_LANE = 64
RESIDENT_THREADS = 64  # of a block with several rows
# Packs that a thread holds: few leave room for many threads, each of which asks for all of its packs at once.
PACKS = 4
MOST_KEPT = 32  # numbers of a row that a thread of a full block can keep in registers
MOST_LANES = 1024
STATIC_SHARED = 1024  # more than the reductions of any rung take
# Parts of split_rows: enough blocks to fill the GPU, each with enough to do.
PART_PACKS = 4 * THREADS
BLOCKS_PER_SM = 16
# Blocks of a row that wait for each other: fewer than any GPU from sm_75 on holds at once.
MEETING_THREADS = 512
MOST_PARTS = 64
TRITON_TILE = 2048  # elements of a program with several rows
TRITON_LONGEST = 32768  # a row in registers
TRITON_BLOCK = 4096  # of rows that are walked through
TRITON_PROGRAMS_PER_SM = 8


class Problem(NamedTuple):
    """A checked softmax: every row of the flattened (rows, n); a tensor with no dimensions is one element."""

    rows: int
    n: int
    out: Any


def prepare(x: Any, out: Any | None, dtypes: tuple[str, ...] = FLOATS) -> Problem:
    """Check the arguments; makes the output where there is none."""
    require_tensor("softmax", "x", x, dtypes)
    return _problem("softmax", x, out)


def prepare_backward(y: Any, dy: Any, out: Any | None) -> Problem:
    """Check the arguments of the gradient; makes the output where there is none."""
    require_tensor("softmax backward", "y", y, WITH_DOUBLE)
    require_like("softmax backward", "dy", dy, y.shape, y.dtype, y.device)
    return _problem("softmax backward", y, out, dy)


def _problem(operation: str, x: Any, out: Any | None, *others: Any) -> Problem:
    n = x.shape[-1] if x.dim() else 1
    result = output(operation, out, x.shape, x.dtype, x.device)
    if out is not None:
        require_apart(operation, result, x, *others)
    return Problem(x.numel() // n if n else 0, n, result)


# ---- A block per row -----------------------------------------------------------------------------------


def _block_per_row(file: Path, problem: Problem, x: Any, shared: int = 0) -> Any:
    if problem.rows:
        kernel = cuda_kernel(file, f"softmax<{CPP_TYPES[dtype_name(x)]}>", x)
        kernel[problem.rows, THREADS, shared](problem.n, x, problem.out)
    return problem.out


def three_pass(x: Any, out: Any | None = None) -> Any:
    return _block_per_row(THREE_PASS, prepare(x, out), x)


def online(x: Any, out: Any | None = None) -> Any:
    return _block_per_row(ONLINE, prepare(x, out, WITH_DOUBLE), x)


def shared(x: Any, out: Any | None = None) -> Any:
    problem = prepare(x, out)
    most = (max_shared_per_block(x) - STATIC_SHARED) // 4
    if problem.n > most:
        raise FlashpathError("kernels.softmax-shared-long", n=problem.n, most=most)
    return _block_per_row(SHARED, problem, x, problem.n * 4)


# ---- Rows in registers ---------------------------------------------------------------------------------


def warp_per_row(x: Any, out: Any | None = None) -> Any:
    rows, n, result = prepare(x, out)
    if n > 32 * MOST_PER_LANE:
        raise FlashpathError("kernels.softmax-warp-long", n=n, value=32 * MOST_PER_LANE)
    if rows:
        per_lane = 1 << (-(-n // 32) - 1).bit_length()
        kernel = cuda_kernel(WARP_PER_ROW, f"softmax<{CPP_TYPES[dtype_name(x)]}, {per_lane}>", x)
        rows_per_block = WARP_PER_ROW_THREADS // 32
        kernel[-(-rows // rows_per_block), WARP_PER_ROW_THREADS](rows, n, x, result)
    return result


class Residence(NamedTuple):
    """Where a row is kept: `lanes` threads with `packs` packs each in registers, and others parked."""

    lanes: int
    packs: int
    parked_pairs: int = 0  # of packs, for each thread, in shared memory


def residence(cut: Packing) -> Residence:
    """Up to `PACKS` packs for each thread while there are threads, then more, then parked ones."""
    lanes = min(MOST_LANES, 1 << max(0, -(-cut.packs // PACKS) - 1).bit_length())
    if 32 < lanes < RESIDENT_THREADS:
        lanes = RESIDENT_THREADS  # a warp, or the block
    each = -(-cut.packs // lanes)
    held = min(max(PACKS, MOST_KEPT // cut.width), 1 << max(0, each - 1).bit_length())
    return Residence(lanes, held, max(0, -(-(each - held) // 2)))


def most_pairs(x: Any, cut: Packing, where: Where | None = None) -> int:
    """Returns the pairs of packs that each thread of a full block can park."""
    return (max_shared_per_block(x, where) - STATIC_SHARED) // (2 * MOST_LANES * cut.width * x.element_size())


def resident(x: Any, out: Any | None = None) -> Any:
    rows, n, result = prepare(x, out)
    if rows:
        cut = packing(n, x, result)
        where = residence(cut)
        pairs = most_pairs(x, cut)
        if where.parked_pairs > pairs:
            raise FlashpathError(
                "kernels.softmax-resident-long", n=n, packs=(where.packs + 2 * pairs) * MOST_LANES * cut.width
            )
        arguments = f"{cut.arguments}, {where.lanes}, {where.packs}, {where.parked_pairs}"
        kernel = cuda_kernel(RESIDENT, f"softmax<{CPP_TYPES[dtype_name(x)]}, {arguments}>", x)
        threads = max(where.lanes, RESIDENT_THREADS)
        blocks = -(-rows * where.lanes // threads)
        parked_bytes = 2 * where.parked_pairs * threads * cut.width * x.element_size()
        kernel[blocks, threads, parked_bytes](rows, n, x, result)
    return result


# ---- Rows that several blocks share --------------------------------------------------------------------


def scratch(x: Any, states: int) -> Any:
    """Memory for so many {m, l} where x is; a kernel writes each before it reads it."""
    import torch

    return torch.empty(2 * states, dtype=torch.float32, device=x.device).view(torch.uint8)


def split_rows(x: Any, out: Any | None = None) -> Any:
    rows, n, result = prepare(x, out)
    if rows:
        cut = packing(n, x, result)
        most = max(1, sm_count(x) * BLOCKS_PER_SM // rows)
        rounds = -(-cut.packs // (PART_PACKS * most))
        parts = -(-cut.packs // (PART_PACKS * rounds))
        arguments = f"<{CPP_TYPES[dtype_name(x)]}, {cut.arguments}>"
        states = scratch(x, rows * parts)
        first = cuda_kernel(SPLIT_ROWS, f"part_states{arguments}", x)
        first[rows * parts, THREADS](n, x, parts, PART_PACKS * rounds, states)
        second = cuda_kernel(SPLIT_ROWS, f"write_parts{arguments}", x)
        second[rows * parts, THREADS](n, x, parts, PART_PACKS * rounds, states, result)
    return result


class Share(NamedTuple):
    """How blocks share a row: a thread's packs in registers, its parked pairs, and how many blocks."""

    packs: int
    parked_pairs: int
    parts: int


def share(x: Any, rows: int, cut: Packing) -> Share:
    """Few rows in small parts, for more SMs; many rows in large ones, two of which an SM holds."""
    for packs in (1, 2, PACKS):
        parts = -(-cut.packs // (MEETING_THREADS * packs))
        if parts <= MOST_PARTS and rows * parts <= 2 * sm_count(x):
            return Share(packs, 0, parts)
    round_bytes = MEETING_THREADS * cut.width * x.element_size()
    most_pairs = (max_shared_per_block(x) // 2 - STATIC_SHARED) // (2 * round_bytes)
    parts = -(-cut.packs // (MEETING_THREADS * (PACKS + 2 * most_pairs)))
    pairs = -(-(-(-cut.packs // (MEETING_THREADS * parts)) - PACKS) // 2)
    return Share(PACKS, max(0, pairs), parts)


def meeting(x: Any, out: Any | None = None) -> Any:
    rows, n, result = prepare(x, out)
    if rows:
        cut = packing(n, x, result)
        packs, pairs, parts = share(x, rows, cut)
        if parts > MOST_PARTS:
            raise FlashpathError("kernels.softmax-meeting-long", n=n, n2=n * MOST_PARTS // parts)
        arguments = f"{cut.arguments}, {MEETING_THREADS}, {packs}, {pairs}"
        kernel = cuda_kernel(MEETING, f"softmax<{CPP_TYPES[dtype_name(x)]}, {arguments}>", x)
        zeros, states = counters_at_zero(x, rows + 1), scratch(x, rows * parts)
        parked_bytes = 2 * pairs * MEETING_THREADS * cut.width * x.element_size()
        kernel[rows * parts, MEETING_THREADS, parked_bytes](n, x, parts, states, zeros[:1], zeros[1:], result)
    return result


# ---- Backward ------------------------------------------------------------------------------------------


def backward_simple(y: Any, dy: Any, out: Any | None = None) -> Any:
    rows, n, result = prepare_backward(y, dy, out)
    if rows:
        kernel = cuda_kernel(BACKWARD_SIMPLE, f"backward<{CPP_TYPES[dtype_name(y)]}>", y)
        kernel[rows, THREADS](n, y, dy, result)
    return result


def backward_residence(cut: Packing) -> Residence:
    """Two packs of y and of dy for each thread up to 256 of them, then more packs, then more threads.

    What is beyond 8 packs of 512 threads is read again.
    """
    lanes = min(256, 1 << (-(-cut.packs // 2) - 1).bit_length())
    if 32 < lanes < RESIDENT_THREADS:
        lanes = RESIDENT_THREADS
    if cut.packs > 8 * lanes:
        lanes = 512
    return Residence(lanes, min(8, 1 << (-(-cut.packs // lanes) - 1).bit_length()))


def backward_resident(y: Any, dy: Any, out: Any | None = None) -> Any:
    rows, n, result = prepare_backward(y, dy, out)
    if n >= 2**31:
        raise FlashpathError("kernels.softmax-backward-long", n=n)
    if rows:
        cut = packing(n, y, dy, result)
        where = backward_residence(cut)
        arguments = f"{cut.arguments}, {where.lanes}, {where.packs}"
        kernel = cuda_kernel(BACKWARD_RESIDENT, f"backward<{CPP_TYPES[dtype_name(y)]}, {arguments}>", y)
        threads = max(where.lanes, RESIDENT_THREADS)
        kernel[-(-rows * where.lanes // threads), threads](rows, n, y, dy, result)
    return result


# ---- Triton --------------------------------------------------------------------------------------------


def triton_kernel() -> Any:
    return importlib.import_module("flashpath.kernels.softmax.triton_softmax").softmax_kernel


def triton_long_kernel() -> Any:
    return importlib.import_module("flashpath.kernels.softmax.triton_softmax").long_softmax_kernel


def triton(x: Any, out: Any | None = None) -> Any:
    rows, n, result = prepare(x, out)
    if rows:
        with triton_device(x):
            if n <= TRITON_LONGEST:
                block = max(16, 1 << (n - 1).bit_length())
                per_program = max(1, TRITON_TILE // block) if rows > 1 else 1
                warps = 4 if block <= 4096 else 8 if block <= 16384 else 16
                triton_kernel()[(-(-rows // per_program),)](
                    x, result, rows, n, ROWS=per_program, BLOCK=block, num_warps=warps
                )
            else:
                programs = min(rows, sm_count(x) * TRITON_PROGRAMS_PER_SM)
                triton_long_kernel()[(programs,)](x, result, rows, n, BLOCK=TRITON_BLOCK, num_warps=8)
    return result


# ---- The choice ----------------------------------------------------------------------------------------

_FLOAT64 = "online", Message("kernels.softmax-float64")
_HELD = "resident", Message("kernels.softmax-row-held")
_SPLIT = "split_rows", Message("kernels.softmax-row-split")
_BACKWARD = "backward_resident", Message("kernels.softmax-gradient")


def chosen(
    x: Any, out: Any | None = None, *, direction: str = "forward", where: Where | None = None
) -> tuple[str, Message]:
    """Returns the rung for these rows, and why."""
    if direction == "backward":
        return _BACKWARD
    if dtype_name(x) == "float64":
        return _FLOAT64
    n = x.shape[-1] if x.dim() else 1
    cut = packing(n, x, x if out is None else out)
    held = residence(cut)
    rows = x.numel() // n if n else 0
    # Rows that fill an SM leave the others idle where there are few of them.
    is_for_one_sm = held.parked_pairs == 0 or 2 * rows >= sm_count(x, where)
    return _HELD if is_for_one_sm and held.parked_pairs <= most_pairs(x, cut, where) else _SPLIT
