"""The host side of the scan rungs: checks, output, scratch memory, and the shape of each launch."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
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
from flashpath.kernels.building import CPP_TYPES, cuda_kernel, dtype_name, sm_count, triton_device

FOLDER = Path(__file__).parent
HILLIS_STEELE = FOLDER / "hillis_steele.cu"
BLELLOCH = FOLDER / "blelloch.cu"
BLELLOCH_PADDED = FOLDER / "blelloch_padded.cu"
WARP = FOLDER / "warp.cu"
DECOUPLED_LOOKBACK = FOLDER / "decoupled_lookback.cu"
BY_ROW = FOLDER / "by_row.cu"
TRITON = FOLDER / "triton_scan.py"
CUB_BLOCK = FOLDER / "cub_block.cu"

OPERATIONS = {"sum": "Sum", "max": "Max"}  # and how kernels spell them
DTYPES = (*FLOATS, "int32")
THREADS = 256
STATE_BYTES = 16  # the largest state of an operation: a 64-bit value, and whether there is a head
BYTES_PER_LANE = 128  # of elements or of results, in the rungs that keep a tile in registers
GROUP = 64  # tiles of decoupled_lookback
LONG_ROW = 16384  # elements: two tiles of float32
BYTES_FOR_A_WARP = 8192  # up to so many, by_row gives a row to a warp, else to a block
TRITON_BLOCKS = (256, 512, 1024, 2048)  # few, since each is compiled
TRITON_WARPS = 2
TRITON_PARTS_PER_SM = 32


class Problem(NamedTuple):
    """A checked scan of `rows` rows of n elements each; a vector is one row."""

    rows: int
    n: int
    heads: Any  # (rows, n) of bytes that are not 0 where a segment starts; None where none does
    out: Any


def prepare(x: Any, op: str, flags: Any | None, out: Any | None) -> Problem:
    """Check the arguments; makes the output where there is none.

    A sum of int32 is int64, as torch.cumsum's; everything else has the type of x.
    """
    import torch

    if op not in OPERATIONS:
        raise FlashpathError(f"scan got the operation {op!r}.", f"It knows {', '.join(OPERATIONS)}.")
    require_tensor("scan", "x", x, DTYPES)
    if x.dim() not in (1, 2):
        raise FlashpathError(
            f"scan got x of shape {tuple(x.shape)}.", "It takes a vector, or a matrix to scan row by row."
        )
    heads = None
    if flags is not None:
        dtype = flags.dtype if getattr(flags, "dtype", None) == torch.bool else torch.uint8
        require_like("scan", "flags", flags, x.shape, dtype, x.device)
        heads = flags.view(torch.uint8)
    dtype = torch.int64 if x.dtype == torch.int32 and op == "sum" else x.dtype
    result = output("scan", out, x.shape, dtype, x.device)
    if out is not None:
        require_apart("scan", result, *(each for each in (x, flags) if each is not None))
    rows, n = (1, x.numel()) if x.dim() == 1 else x.shape
    return Problem(rows, n, heads, result)


def functor(x: Any, op: str, heads: Any | None) -> str:
    """The operation's C++ name: `Whole<Sum<float>>`."""
    return f"{'Whole' if heads is None else 'Segmented'}<{OPERATIONS[op]}<{CPP_TYPES[dtype_name(x)]}>>"


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


# ---- One launch: decoupled look-back -------------------------------------------------------------------


@dataclass
class Boards:
    """Where the tiles of a launch publish: words that bear the launch's number, and a ticket at 0."""

    words: Any
    ticket: Any
    launch: int = 0

    @staticmethod
    def of(x: Any, words: int) -> Boards:
        import torch

        zeros = torch.zeros(words + 1, dtype=torch.int64, device=x.device)
        return Boards(zeros[1:].view(torch.uint64), zeros[:1].view(torch.uint32))


# By device and stream: launches of one stream follow each other, and those of two may not share words. The
# kernel leaves the ticket at 0 and tells words of earlier launches by their number, so nothing is cleared.
_boards: dict[tuple[int, int], Boards] = {}


def boards(x: Any, words: int) -> Boards:
    """Boards of at least so many words, with a launch number that none of them bears yet."""
    import torch

    # A graph may be replayed on any stream, and always with the same number: it gets words of its own,
    # cleared by each replay.
    if not x.is_cuda or torch.cuda.is_current_stream_capturing():
        mine = Boards.of(x, words)
    else:
        key = (x.get_device(), torch.cuda.current_stream(x.device).cuda_stream)
        mine = _boards.get(key)
        if mine is None or mine.words.numel() < words or mine.launch == 2**32 - 1:
            mine = _boards[key] = Boards.of(x, words)
    mine.launch += 1
    return mine


def decoupled_lookback(
    x: Any, op: str = "sum", exclusive: bool = False, flags: Any | None = None, out: Any | None = None
) -> Any:
    rows, n, heads, result = prepare(x, op, flags, out)
    if not x.numel():
        return result
    width = _width(x, heads, result, n if rows > 1 else None)
    per_lane = BYTES_PER_LANE // max(x.element_size(), result.element_size())
    tiles = -(-n // (THREADS * per_lane))
    groups = -(-tiles // GROUP)
    words_per_state = max(1, result.element_size() // 4) * (1 if heads is None else 2)
    board = boards(x, rows * (tiles + groups) * words_per_state)
    name = f"scan<{functor(x, op, heads)}, {width}, {CPP_TYPES[dtype_name(x)]}>"
    kernel = cuda_kernel(DECOUPLED_LOOKBACK, name, x)
    kernel[rows * tiles, THREADS](
        n, tiles, x, heads, exclusive, board.launch, board.words, board.ticket, result
    )
    return result


def _width(x: Any, heads: Any | None, out: Any, multiple: int | None) -> int:
    """Elements per access: as many as fit 16 bytes of x and of out, at addresses that allow it."""
    width = min(widest_pack(x, multiple=multiple), widest_pack(out, multiple=multiple))
    while heads is not None and heads.data_ptr() % width:
        width //= 2
    return width


def by_row(
    x: Any, op: str = "sum", exclusive: bool = False, flags: Any | None = None, out: Any | None = None
) -> Any:
    rows, n, heads, result = prepare(x, op, flags, out)
    if not x.numel():
        return result
    width = _width(x, heads, result, n if rows > 1 else None)
    warps = 1 if n * x.element_size() <= BYTES_FOR_A_WARP else THREADS // 32
    name = f"scan<{functor(x, op, heads)}, {warps}, {width}, {CPP_TYPES[dtype_name(x)]}>"
    blocks = -(-rows * warps * 32 // THREADS)
    cuda_kernel(BY_ROW, name, x)[blocks, THREADS](rows, n, x, heads, exclusive, result)
    return result


def fastest(
    x: Any, op: str = "sum", exclusive: bool = False, flags: Any | None = None, out: Any | None = None
) -> Any:
    """By rows where these are short or fill the GPU, else by tiles that look back."""
    rung = decoupled_lookback
    if x.dim() == 2 and (x.shape[1] <= LONG_ROW or x.shape[0] >= 2 * sm_count(x)):
        rung = by_row
    return rung(x, op, exclusive, flags, out)


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
