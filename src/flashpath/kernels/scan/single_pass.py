"""The host side of the rungs whose blocks meet within one launch: decoupled_lookback and lookahead."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from flashpath.jit import observing
from flashpath.kernels.building import CPP_TYPES, cuda_kernel, dtype_name, max_shared_per_block, sm_count
from flashpath.kernels.scan.problem import BYTES_PER_LANE, FOLDER, THREADS, access_width, functor, prepare
from flashpath.kernels.where import Where

DECOUPLED_LOOKBACK = FOLDER / "decoupled_lookback.cu"
LOOKAHEAD = FOLDER / "lookahead.cu"

GROUP = 64  # tiles of decoupled_lookback
RING_THREADS = 384  # of lookahead that scan; 32 more keep the ledger
SLOT_BYTES = RING_THREADS * (BYTES_PER_LANE + 16)
STATIC_SHARED = 1024  # bytes, at most, that lookahead needs beside its slots


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
    # cleared by each replay. So does a call that is recorded.
    if not x.is_cuda or observing.observer is not None or torch.cuda.is_current_stream_capturing():
        mine = Boards.of(x, words)
    else:
        key = (x.get_device(), torch.cuda.current_stream(x.device).cuda_stream)
        mine = _boards.get(key)
        if mine is None or mine.words.numel() < words or mine.launch == 2**32 - 1:
            mine = _boards[key] = Boards.of(x, words)
    mine.launch += 1
    return mine


def _tiles_of(n: int, threads: int, x: Any, out: Any) -> int:
    per_lane = BYTES_PER_LANE // max(x.element_size(), out.element_size())
    return -(-n // (threads * per_lane))


def _words_per_state(out: Any, heads: Any | None) -> int:
    return max(1, out.element_size() // 4) * (1 if heads is None else 2)


def decoupled_lookback(
    x: Any, op: str = "sum", exclusive: bool = False, flags: Any | None = None, out: Any | None = None
) -> Any:
    rows, n, heads, result = prepare(x, op, flags, out)
    if not x.numel():
        return result
    width = access_width(x, heads, result, n if rows > 1 else None)
    tiles = _tiles_of(n, THREADS, x, result)
    groups = -(-tiles // GROUP)
    board = boards(x, rows * (tiles + groups) * _words_per_state(result, heads))
    name = f"scan<{functor(x, op, heads)}, {width}, {CPP_TYPES[dtype_name(x)]}>"
    kernel = cuda_kernel(DECOUPLED_LOOKBACK, name, x)
    kernel[rows * tiles, THREADS](
        n, tiles, x, heads, exclusive, board.launch, board.words, board.ticket, result
    )
    return result


class Ring(NamedTuple):
    slots: int  # tiles in shared memory
    ahead: int  # rounds between a total and its use


WHOLE_RING = Ring(4, 2)
# Where three slots fit, as on an A100. With two rounds ahead the third would be asked for when a round ends
# and waited for when the next one starts: nothing would be read while results are written.
SMALL_RING = Ring(3, 1)


def ring_for(x: Any, where: Where | None = None) -> Ring | None:
    """Returns the largest ring that the shared memory of an SM holds; None for sm_86 and sm_89."""
    most = (max_shared_per_block(x, where) - STATIC_SHARED) // SLOT_BYTES
    return next((ring for ring in (WHOLE_RING, SMALL_RING) if ring.slots <= most), None)


def lookahead(
    x: Any,
    op: str = "sum",
    exclusive: bool = False,
    flags: Any | None = None,
    out: Any | None = None,
    *,
    ring: tuple[int, int] | None = None,
) -> Any:
    """One vector without heads at a 16-byte boundary; decoupled_lookback does the rest.

    `ring` is the number of slots and of rounds ahead, by default `ring_for(x)`; where none fits,
    decoupled_lookback does everything.
    """
    rows, n, heads, result = prepare(x, op, flags, out)
    if not x.numel():
        return result
    ring = ring_for(x) if ring is None else ring
    is_aligned = x.data_ptr() % 16 == 0 and result.data_ptr() % 16 == 0
    if rows > 1 or heads is not None or not is_aligned or ring is None:
        return decoupled_lookback(x, op, exclusive, flags, result)
    slots, ahead = ring
    tiles = _tiles_of(n, RING_THREADS, x, result)
    board = boards(x, tiles * _words_per_state(result, None))
    name = f"scan<{functor(x, op, None)}, {slots}, {ahead}, {CPP_TYPES[dtype_name(x)]}>"
    kernel = cuda_kernel(LOOKAHEAD, name, x)
    kernel[min(tiles, sm_count(x)), RING_THREADS + 32, slots * SLOT_BYTES](
        n, tiles, x, exclusive, board.launch, board.words, board.ticket, result
    )
    return result
