"""The host side of the vector_add rungs: checks, output, and the shape of each launch."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from flashpath.errors import FlashpathError
from flashpath.jit import device as cuda
from flashpath.kernels.building import CPP_TYPES, cuda_kernel, dtype_name, triton_device

FOLDER = Path(__file__).parent
ONE_PER_THREAD = FOLDER / "one_per_thread.cu"
GRID_STRIDE = FOLDER / "grid_stride.cu"
VECTORIZED = FOLDER / "vectorized.cu"
THREADS = 256
# Enough blocks per SM for 2048 resident threads, the most any GPU holds.
BLOCKS_PER_SM = 8
TRITON_BLOCK = 1024


def prepare(a: Any, b: Any, out: Any | None) -> Any:
    """Check the operands; returns the output tensor."""
    import torch

    if a.shape != b.shape or a.dtype != b.dtype or a.device != b.device:
        raise FlashpathError(
            f"vector_add got {tuple(a.shape)} {dtype_name(a)} on {a.device} and "
            f"{tuple(b.shape)} {dtype_name(b)} on {b.device}.",
            "Both operands need one shape, one dtype and one device.",
        )
    if dtype_name(a) not in CPP_TYPES:
        raise FlashpathError(f"vector_add got {dtype_name(a)}.", f"It takes {', '.join(CPP_TYPES)}.")
    if not (a.is_contiguous() and b.is_contiguous()):
        raise FlashpathError("vector_add got a non-contiguous tensor.", "Pass x.contiguous().")
    if out is None:
        return torch.empty_like(a)
    if out.shape != a.shape or out.dtype != a.dtype or out.device != a.device or not out.is_contiguous():
        raise FlashpathError(
            f"vector_add got out= of shape {tuple(out.shape)}, {dtype_name(out)}, on {out.device}"
            f"{'' if out.is_contiguous() else ', not contiguous'}.",
            f"It must be like the operands: {tuple(a.shape)}, {dtype_name(a)}, on {a.device}, contiguous.",
        )
    return out


def one_per_thread(a: Any, b: Any, out: Any | None = None) -> Any:
    c, n = prepare(a, b, out), a.numel()
    if n:
        kernel = cuda_kernel(ONE_PER_THREAD, f"vector_add<{CPP_TYPES[dtype_name(a)]}>", a)
        kernel[-(-n // THREADS), THREADS](n, a, b, c)
    return c


def grid_stride(a: Any, b: Any, out: Any | None = None) -> Any:
    c, n = prepare(a, b, out), a.numel()
    if n:
        kernel = cuda_kernel(GRID_STRIDE, f"vector_add<{CPP_TYPES[dtype_name(a)]}>", a)
        sms = cuda.device(a.get_device()).sm_count if a.is_cuda else 1
        kernel[min(-(-n // THREADS), sms * BLOCKS_PER_SM), THREADS](n, a, b, c)
    return c


def vectorized(a: Any, b: Any, out: Any | None = None) -> Any:
    c, n = prepare(a, b, out), a.numel()
    if n:
        width = 16 // a.element_size()
        while width > 1 and any(x.data_ptr() % (width * a.element_size()) for x in (a, b, c)):
            width //= 2
        name = f"vector_add<{CPP_TYPES[dtype_name(a)]}, {width}>"
        kernel = cuda_kernel(VECTORIZED, name, a)
        # At least one thread for each of the width - 1 elements that may be left over.
        kernel[-(-max(n // width, width) // THREADS), THREADS](n, a, b, c)
    return c


def triton_kernel() -> Any:
    return importlib.import_module("flashpath.kernels.vector_add.triton_vector_add").vector_add_kernel


def triton(a: Any, b: Any, out: Any | None = None) -> Any:
    c, n = prepare(a, b, out), a.numel()
    if n:
        with triton_device(a):
            triton_kernel()[(-(-n // TRITON_BLOCK),)](a, b, c, n, BLOCK=TRITON_BLOCK)
    return c
