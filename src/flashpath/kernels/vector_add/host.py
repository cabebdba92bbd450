"""The host side of the vector_add rungs: checks, output, and the shape of each launch."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from flashpath.errors import FlashpathError
from flashpath.kernels.arguments import output, require_apart, require_tensor, widest_pack
from flashpath.kernels.building import CPP_TYPES, cuda_kernel, dtype_name, sm_count, triton_device

FOLDER = Path(__file__).parent
ONE_PER_THREAD = FOLDER / "one_per_thread.cu"
GRID_STRIDE = FOLDER / "grid_stride.cu"
VECTORIZED = FOLDER / "vectorized.cu"
THREADS = 256
# Enough blocks per SM for 2048 resident threads, the most any GPU holds.
BLOCKS_PER_SM = 8
TRITON_BLOCK = 1024
TRITON_WARPS = 4


def prepare(a: Any, b: Any, out: Any | None) -> Any:
    """Check the operands; returns the output tensor."""
    if a.shape != b.shape or a.dtype != b.dtype or a.device != b.device:
        raise FlashpathError(
            "kernels.vector-add-unlike",
            shape=str(tuple(a.shape)),
            dtype=dtype_name(a),
            device=str(a.device),
            shape2=str(tuple(b.shape)),
            dtype2=dtype_name(b),
            device2=str(b.device),
        )
    for name, operand in (("a", a), ("b", b)):
        require_tensor("vector_add", name, operand, tuple(CPP_TYPES))
    c = output("vector_add", out, a.shape, a.dtype, a.device)
    if out is not None:
        require_apart("vector_add", c, a, b, in_place=True)
    return c


def one_per_thread(a: Any, b: Any, out: Any | None = None, *, threads: int = THREADS) -> Any:
    c, n = prepare(a, b, out), a.numel()
    if n:
        kernel = cuda_kernel(ONE_PER_THREAD, f"vector_add<{CPP_TYPES[dtype_name(a)]}>", a)
        kernel[-(-n // threads), threads](n, a, b, c)
    return c


def grid_stride(
    a: Any,
    b: Any,
    out: Any | None = None,
    *,
    threads: int = THREADS,
    blocks_per_sm: int = BLOCKS_PER_SM,
) -> Any:
    c, n = prepare(a, b, out), a.numel()
    if n:
        kernel = cuda_kernel(GRID_STRIDE, f"vector_add<{CPP_TYPES[dtype_name(a)]}>", a)
        kernel[min(-(-n // threads), sm_count(a) * blocks_per_sm), threads](n, a, b, c)
    return c


def vectorized(
    a: Any, b: Any, out: Any | None = None, *, threads: int = THREADS, width_bytes: int = 16
) -> Any:
    """`width_bytes` is the most that one access moves; a slice that starts in between has less."""
    c, n = prepare(a, b, out), a.numel()
    if n:
        width = min(widest_pack(a, b, c), max(width_bytes // a.element_size(), 1))
        name = f"vector_add<{CPP_TYPES[dtype_name(a)]}, {width}>"
        kernel = cuda_kernel(VECTORIZED, name, a)
        # At least one thread for each of the width - 1 elements that may be left over.
        kernel[-(-max(n // width, width) // threads), threads](n, a, b, c)
    return c


def triton_kernel() -> Any:
    return importlib.import_module("flashpath.kernels.vector_add.triton_vector_add").vector_add_kernel


def triton(
    a: Any, b: Any, out: Any | None = None, *, block: int = TRITON_BLOCK, warps: int = TRITON_WARPS
) -> Any:
    c, n = prepare(a, b, out), a.numel()
    if n:
        with triton_device(a):
            triton_kernel()[(-(-n // block),)](a, b, c, n, BLOCK=block, num_warps=warps)
    return c
