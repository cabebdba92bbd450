"""The host side of the sort rungs: checks, output, scratch memory, and the launches of each pass."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any, NamedTuple

from flashpath.errors import FlashpathError
from flashpath.kernels.arguments import FLOATS, require_apart, require_like, require_tensor
from flashpath.kernels.building import CPP_TYPES, cuda_kernel, dtype_name, sm_count, triton_device

FOLDER = Path(__file__).parent
BITONIC = FOLDER / "bitonic.cu"
RADIX = FOLDER / "radix.cu"
RADIX_TILED = FOLDER / "radix_tiled.cu"
ONESWEEP = FOLDER / "onesweep.cu"
TRITON = FOLDER / "triton_sort.py"

DTYPES = (*FLOATS, "int32")
MOST = 2**31 - 1  # places and indices are counted in 32 bits
MOST_BITONIC = 2**30  # its words are twice the next power of two at most, and counted in 32 bits too
MOST_ONESWEEP = 2**30 - 1  # a place shares 32 bits with what it is

# As the kernels have them.
BITONIC_THREADS, BITONIC_TILE = 512, 4096
RADIX_BITS, RADIX_THREADS, RADIX_TILE = 4, 256, 4096
TILED_BITS, TILED_THREADS, TILED_TILE = 8, 384, 384 * 12
SWEEP_BITS, SWEEP_THREADS = 8, 384
SWEEP_ITEMS = {False: 16, True: 18}  # keys of a thread: alone, and with indices
COUNT_THREADS, COUNT_BLOCKS_PER_SM = 512, 4
SCAN_THREADS = 256
TRITON_BITS, TRITON_TILE, TRITON_SCAN = 4, 256, 1024


class Problem(NamedTuple):
    """A checked sort: n keys into `values`, and where each came from into `indices` unless that is None."""

    n: int
    values: Any
    indices: Any | None

    @property
    def result(self) -> Any:
        return self.values if self.indices is None else (self.values, self.indices)


def prepare(x: Any, return_indices: bool, out: Any | None, most: int = MOST) -> Problem:
    """Check the arguments; makes the outputs where there are none."""
    import torch

    require_tensor("sort", "x", x, DTYPES, dims=1)
    n = x.numel()
    if n > most:
        raise FlashpathError("kernels.sort-many", n=n, most=most)
    if out is None:
        values = torch.empty_like(x)
        return Problem(n, values, torch.empty_like(x, dtype=torch.int64) if return_indices else None)
    if return_indices and (isinstance(out, torch.Tensor) or len(out) != 2):
        raise FlashpathError("kernels.sort-out")
    values, indices = out if return_indices else (out, None)
    require_like("sort", "out=", values, x.shape, x.dtype, x.device)
    require_apart("sort", values, x)
    if indices is not None:
        require_like("sort", "out=(…, indices)", indices, x.shape, torch.int64, x.device)
        require_apart("sort", indices, x, values)
    return Problem(n, values, indices)


def empty(x: Any, count: int, dtype: str) -> Any:
    """Scratch memory where x is; a kernel writes each element before it reads it."""
    import torch

    return torch.empty(count, dtype=getattr(torch, dtype), device=x.device)


def counters(x: Any, count: int) -> Any:
    """So many counters at 0 where x is."""
    import torch

    return torch.zeros(count, dtype=torch.int32, device=x.device).view(torch.uint32)


# ---- Bitonic -------------------------------------------------------------------------------------------


def bitonic(x: Any, return_indices: bool = False, out: Any | None = None) -> Any:
    n, values, indices = problem = prepare(x, return_indices, out, MOST_BITONIC)
    if n == 0:
        return problem.result
    kind = CPP_TYPES[dtype_name(x)]
    size = max(BITONIC_TILE, 1 << (n - 1).bit_length())
    words, tiles = empty(x, size, "uint64"), size // BITONIC_TILE
    cuda_kernel(BITONIC, f"sort_tiles<{kind}>", x)[tiles, BITONIC_THREADS](n, x, words)
    merge_far = cuda_kernel(BITONIC, "merge_far", x)[size // 2 // BITONIC_THREADS, BITONIC_THREADS]
    merge_tiles = cuda_kernel(BITONIC, "merge_tiles", x)[tiles, BITONIC_THREADS]
    run = 2 * BITONIC_TILE
    while run <= size:
        stride = run // 2
        while stride >= BITONIC_TILE:
            merge_far(words, run, stride)
            stride //= 2
        merge_tiles(words, run)
        run *= 2
    unpack = cuda_kernel(BITONIC, f"unpack<{kind}>", x)
    unpack[-(-n // BITONIC_THREADS), BITONIC_THREADS](n, words, x, values, indices)
    return problem.result


# ---- Radix: one pass per digit -------------------------------------------------------------------------


class Pass(NamedTuple):
    """One digit's turn: what it reads and writes. `indices` has 64 bits and is written in the last pass."""

    number: int
    shift: int
    source: Any
    source_index: Any | None  # None in the first pass: a key's index is its place
    target: Any
    target_index: Any | None
    indices: Any | None


def passes(x: Any, problem: Problem, bits: int) -> list[Pass]:
    """The passes over digits of so many bits, each from the buffer that the last one filled."""
    import torch

    n, values, indices = problem
    count = x.element_size() * 8 // bits
    spare = torch.empty_like(x)
    # An even number of passes, the last of which writes `values`.
    keys = [x, *(spare if i % 2 == 0 else values for i in range(count))]
    places: list[Any] = [None] * (count + 1)
    if indices is not None:
        # The last pass does not read what the second but last wrote: that may lie where its output goes.
        rest = empty(x, n, "uint32")
        places = [None, *(rest if i % 2 == 0 else indices.view(torch.uint32)[:n] for i in range(count - 1))]
        places.append(None)
    return [
        Pass(
            i,
            i * bits,
            keys[i],
            places[i],
            keys[i + 1],
            places[i + 1],
            indices if i == count - 1 else None,
        )
        for i in range(count)
    ]


def _three_kernels(file: Path, bits: int, threads: int, tile: int, x: Any, problem: Problem) -> Any:
    """Each pass counts the tiles' digits, scans the counts, and scatters the keys to their places."""
    n = problem.n
    if n == 0:
        return problem.result
    kind, digits, tiles = CPP_TYPES[dtype_name(x)], 1 << bits, -(-n // tile)
    count_digits = cuda_kernel(file, f"count_digits<{kind}>", x)[tiles, threads]
    scan_counts = cuda_kernel(file, f"scan_counts<{digits}>", x)[digits, SCAN_THREADS]
    scatter = cuda_kernel(file, f"scatter<{kind}>", x)[tiles, threads]
    todo = passes(x, problem, bits)
    counts, totals = empty(x, digits * tiles, "uint32"), counters(x, len(todo) * digits)
    for each in todo:
        of_pass = totals[each.number * digits :]
        count_digits(n, each.shift, each.source, tiles, counts, of_pass)
        scan_counts(tiles, of_pass, counts)
        scatter(
            n,
            each.shift,
            each.source,
            each.source_index,
            tiles,
            counts,
            each.target,
            each.target_index,
            each.indices,
        )
    return problem.result


def radix(x: Any, return_indices: bool = False, out: Any | None = None) -> Any:
    return _three_kernels(RADIX, RADIX_BITS, RADIX_THREADS, RADIX_TILE, x, prepare(x, return_indices, out))


def radix_tiled(x: Any, return_indices: bool = False, out: Any | None = None) -> Any:
    return _three_kernels(
        RADIX_TILED, TILED_BITS, TILED_THREADS, TILED_TILE, x, prepare(x, return_indices, out)
    )


def onesweep(
    x: Any, return_indices: bool = False, out: Any | None = None, *, items: int | None = None
) -> Any:
    n, _, indices = problem = prepare(x, return_indices, out, MOST_ONESWEEP)
    if n == 0:
        return problem.result
    items = items or SWEEP_ITEMS[return_indices]
    kind, digits, tiles = CPP_TYPES[dtype_name(x)], 1 << SWEEP_BITS, -(-n // (SWEEP_THREADS * items))
    todo = passes(x, problem, SWEEP_BITS)
    # What is cleared here is small: the states are cleared by the first kernel.
    cleared = counters(x, len(todo) * (digits + 1))
    histograms, next_tiles = cleared[len(todo) :].view(len(todo), digits), cleared[: len(todo)]
    states = empty(x, len(todo) * tiles * digits, "uint32").view(len(todo), tiles * digits)
    blocks = min(-(-n // COUNT_THREADS), sm_count(x) * COUNT_BLOCKS_PER_SM)
    count_all = cuda_kernel(ONESWEEP, f"count_all_digits<{kind}>", x)
    count_all[blocks, COUNT_THREADS](n, x, histograms, states.numel(), states)
    name = f"sort_digit<{kind}, {'false' if indices is None else 'true'}, {items}>"
    sort_digit = cuda_kernel(ONESWEEP, name, x)[tiles, SWEEP_THREADS]
    of_pass = zip(histograms.unbind(), next_tiles.unbind(), states.unbind(), strict=True)
    for each, (histogram, next_tile, state) in zip(todo, of_pass, strict=True):
        sort_digit(
            n,
            each.shift,
            each.source,
            each.source_index,
            histogram,
            next_tile,
            state,
            each.target,
            each.target_index,
            each.indices,
        )
    return problem.result


# ---- Triton --------------------------------------------------------------------------------------------


def triton_kernel(name: str) -> Any:
    return getattr(importlib.import_module("flashpath.kernels.sort.triton_sort"), f"{name}_kernel")


def triton(x: Any, return_indices: bool = False, out: Any | None = None) -> Any:
    n, _, _ = problem = prepare(x, return_indices, out)
    if n == 0:
        return problem.result
    digits, tiles = 1 << TRITON_BITS, -(-n // TRITON_TILE)
    counts, totals = empty(x, digits * tiles, "int32"), empty(x, digits, "int32")
    count, scan, scatter = map(triton_kernel, ("count", "scan", "scatter"))
    with triton_device(x):
        for each in passes(x, problem, TRITON_BITS):
            shape = {"DIGITS": digits, "TILE": TRITON_TILE}
            count[(tiles,)](each.source, counts, n, tiles, each.shift, **shape)
            scan[(digits,)](counts, totals, tiles, CHUNK=TRITON_SCAN)
            scatter[(tiles,)](
                each.source,
                each.target_index if each.source_index is None else each.source_index,
                counts,
                totals,
                each.target,
                each.target_index if each.indices is None else each.indices,
                n,
                tiles,
                each.shift,
                **shape,
            )
    return problem.result
