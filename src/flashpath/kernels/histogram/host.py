"""The host side of the histogram rungs: checks, output, and the shape of each launch."""

from __future__ import annotations

import importlib
import math
import struct
from pathlib import Path
from typing import Any, NamedTuple

from flashpath.errors import FlashpathError
from flashpath.jit import device as cuda
from flashpath.kernels.arguments import FLOATS, output, require_tensor
from flashpath.kernels.building import CPP_TYPES, cuda_kernel, dtype_name, sm_count, triton_device

FOLDER = Path(__file__).parent
GLOBAL_ATOMICS = FOLDER / "global_atomics.cu"
SHARED = FOLDER / "shared.cu"
PER_WARP = FOLDER / "per_warp.cu"
AGGREGATED = FOLDER / "aggregated.cu"
VECTORIZED = FOLDER / "vectorized.cu"
PER_LANE = FOLDER / "per_lane.cu"
TRITON = FOLDER / "triton_histogram.py"

DTYPES = (*FLOATS, "int32")
MOST_BINS = 2**24  # up to here every bin's number is a float32
LARGEST_FLOAT32 = (2 - 2**-23) * 2.0**127
THREADS = 256
WARPS = THREADS // 32
BLOCKS_PER_SM = 8  # all resident: each walks through x, so that copies of the counts are few
# Of a block: what every GPU has without being asked for more. Where copies of the counts take more than this
# (for the vectorized rung: more than the GPU has), all rungs take global atomics.
SHARED_BYTES = 48 * 1024
WIDE_THREADS = 1024  # of a block of vectorized and per_lane
WIDE_BLOCKS_PER_SM = 2
WIDE_ROUND_BYTES = 32  # what a thread of these asks for at once
RESERVED_BYTES = 1024  # of shared memory, that the system takes for each block
SPARE = 2  # places beside the bins: for what comes out as `bins`, and for what is out of bounds
LANE_BYTES = 33 * 1024  # of per_lane's counts in a block, unless one column alone takes more
TRITON_BLOCK = 1024
TRITON_BINS = 1024  # the most that stay in a program's registers


class Problem(NamedTuple):
    """A checked call: bounds as the kernel computes with them, and where the counts go."""

    n: int
    lo: float
    hi: float
    out: Any


def prepare(x: Any, bins: int, lo: float, hi: float, out: Any | None) -> Problem:
    """Check the arguments; makes the output where there is none."""
    import torch

    require_tensor("histogram", "x", x, DTYPES)
    if not isinstance(bins, int) or isinstance(bins, bool) or not 1 <= bins <= MOST_BINS:
        raise FlashpathError("kernels.histogram-bins", bins=f"{bins!r}", most_bins=MOST_BINS)
    low, high = _bound(x, "lo", lo), _bound(x, "hi", hi)
    if not low < high:
        raise FlashpathError("kernels.histogram-bounds", lo=f"{lo!r}", hi=f"{hi!r}", dtype=dtype_name(x))
    if x.dtype.is_floating_point and (high - low) * bins > LARGEST_FLOAT32:
        raise FlashpathError("kernels.histogram-width", bins=bins, lo=f"{lo!r}", hi=f"{hi!r}")
    return Problem(x.numel(), low, high, output("histogram", out, (bins,), torch.int64, x.device))


def _bound(x: Any, name: str, value: float) -> float:
    """A bound as the kernel computes with it: a float32, or for int32 values an int32."""
    if not isinstance(value, int | float) or not math.isfinite(value):
        raise FlashpathError("kernels.histogram-finite", name=name, value=f"{value!r}")
    if x.dtype.is_floating_point:
        if abs(value) > LARGEST_FLOAT32:
            raise FlashpathError("kernels.histogram-float32", name=name, value=f"{value!r}")
        return _single(value)
    if value != int(value) or not -(2**31) <= value < 2**31:
        raise FlashpathError("kernels.histogram-int32", name=name, value=f"{value!r}")
    return int(value)


def _count(file: Path, copies: int, x: Any, bins: int, problem: Problem) -> Any:
    """Counts into `copies` in each block's shared memory, or into global memory where they do not fit."""
    n, low, high, counts = problem
    counts.zero_()
    if n:
        shared = 4 * copies * bins
        if shared > SHARED_BYTES:
            file, shared = GLOBAL_ATOMICS, 0
        kernel = cuda_kernel(file, f"histogram<{CPP_TYPES[dtype_name(x)]}>", x)
        blocks = min(-(-n // THREADS), sm_count(x) * BLOCKS_PER_SM)
        kernel[blocks, THREADS, shared](n, x, bins, low, high, counts)
    return counts


def global_atomics(x: Any, bins: int, lo: float, hi: float, out: Any | None = None) -> Any:
    return _count(GLOBAL_ATOMICS, 0, x, bins, prepare(x, bins, lo, hi, out))


def shared(x: Any, bins: int, lo: float, hi: float, out: Any | None = None) -> Any:
    return _count(SHARED, 1, x, bins, prepare(x, bins, lo, hi, out))


def per_warp(x: Any, bins: int, lo: float, hi: float, out: Any | None = None) -> Any:
    return _count(PER_WARP, WARPS, x, bins, prepare(x, bins, lo, hi, out))


def aggregated(x: Any, bins: int, lo: float, hi: float, out: Any | None = None) -> Any:
    return _count(AGGREGATED, 1, x, bins, prepare(x, bins, lo, hi, out))


def vectorized(x: Any, bins: int, lo: float, hi: float, out: Any | None = None) -> Any:
    return _count_wide(VECTORIZED, 1, (), x, bins, prepare(x, bins, lo, hi, out))


def per_lane(x: Any, bins: int, lo: float, hi: float, out: Any | None = None) -> Any:
    problem = prepare(x, bins, lo, hi, out)
    copies = columns(bins)
    return _count_wide(PER_LANE, copies, (copies,), x, bins, problem)


def _count_wide(
    file: Path, copies: int, options: tuple[int, ...], x: Any, bins: int, problem: Problem
) -> Any:
    """Counts as `_count` does, in packs and with no division; `options` are further kernel arguments."""
    n, low, high, counts = problem
    shared = 4 * copies * (bins + SPARE)
    resident = min(WIDE_BLOCKS_PER_SM, _shared_of_an_sm(x) // (shared + RESERVED_BYTES))
    if not n or not resident or not divides_by_multiplying(x, low, high):
        return _count(SHARED, 1, x, bins, problem)
    counts.zero_()
    factor, shift, corrections = multiplier(x, bins, low, high)
    kernel = cuda_kernel(file, f"histogram<{CPP_TYPES[dtype_name(x)]}, {corrections}>", x)
    one_round = -(-n * x.element_size() // (WIDE_THREADS * WIDE_ROUND_BYTES))
    blocks = min(one_round, sm_count(x) * resident)
    kernel[blocks, WIDE_THREADS, shared](n, x, bins, low, high, factor, shift, *options, counts)
    return counts


def _shared_of_an_sm(x: Any) -> int:
    """Returns the shared memory that one block can have; on the virtual GPU, what every GPU has."""
    return (cuda.device(x.get_device()).max_shared_per_block if x.is_cuda else SHARED_BYTES) + RESERVED_BYTES


def columns(bins: int) -> int:
    """Returns the copies of per_lane's counts: 32 where they fit, else a smaller power of two."""
    return 2 ** max(0, min(5, (LANE_BYTES // (4 * (bins + SPARE))).bit_length() - 1))


def divides_by_multiplying(x: Any, lo: float, hi: float) -> bool:
    """Whether hi - lo is such that float32 quotients by it can be had from its reciprocal (bins.cuh)."""
    return not x.dtype.is_floating_point or 2.0**-100 <= _single(hi - lo) <= 2.0**100


def multiplier(x: Any, bins: int, lo: float, hi: float) -> tuple[float, int, int]:
    """What place_of multiplies by in place of dividing by hi - lo, its shift, its corrections (bins.cuh)."""
    if x.dtype.is_floating_point:
        # Rounded to float64 first: with more than twice the bits of float32, that changes nothing.
        width = _single(hi - lo)
        reciprocal = _single(1 / width)
        error = abs(reciprocal * width - 1)  # exact; it is a quotient's too, before that is rounded
        # Half a unit of the quotient's last place for its rounding leaves another half, 2^-25 of it at least.
        return reciprocal, 0, 0 if error == 0 else 1 if error <= 2.0**-25 else 2
    width = int(hi - lo)
    shift = max(0, 2 * width.bit_length() - 32)
    return -(-(bins << (32 + shift)) // width), shift, 0


def _single(value: float) -> float:
    """Rounded to float32."""
    return struct.unpack("f", struct.pack("f", value))[0]


# ---- Triton --------------------------------------------------------------------------------------------


def triton_kernel() -> Any:
    return importlib.import_module("flashpath.kernels.histogram.triton_histogram").histogram_kernel


def triton(x: Any, bins: int, lo: float, hi: float, out: Any | None = None) -> Any:
    problem = prepare(x, bins, lo, hi, out)
    n, low, high, counts = problem
    if not n or bins > TRITON_BINS:
        return _count(GLOBAL_ATOMICS, 0, x, bins, problem)
    counts.zero_()
    blocks = min(-(-n // TRITON_BLOCK), sm_count(x) * BLOCKS_PER_SM)
    padded = max(32, 1 << (bins - 1).bit_length())
    with triton_device(x):
        triton_kernel()[(blocks,)](x, counts, n, bins, low, high, BINS=padded, BLOCK=TRITON_BLOCK)
    return counts
