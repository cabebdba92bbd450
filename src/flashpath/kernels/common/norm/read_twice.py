"""The launch of read_twice, of layer_norm and of rms_norm, and the rows it is the fastest for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from flashpath.kernels.building import cuda_kernel
from flashpath.kernels.common.norm import rows as shared
from flashpath.messages import Message

# Threads of a block, packs of each at a time, and blocks of an SM where all threads have as many packs of
# bfloat16; those of float16 would spill.
THREADS, PACKS, BLOCKS = 512, 4, 3


def forward(
    file: Path,
    centered: bool,
    x: Any,
    weight: Any,
    bias: Any,
    eps: float,
    out: Any,
    mean: Any,
    rstd: Any,
    offset: float = 0.0,
) -> None:
    rows, n = x.shape
    if not rows or not n:
        return
    types = ", ".join(shared.type_names(x, weight, bias))
    width = shared.pack_width(n, [x, out], [weight, bias])
    is_whole = n == THREADS * PACKS * width
    blocks = BLOCKS if is_whole and types == shared.BRAIN_TYPES else 1
    names = ", ".join(shared.type_names(x, weight, bias, offset))
    flags = map(shared.spelled, [weight is not None, bias is not None, is_whole])
    shape = ", ".join([str(width), str(blocks), *flags])
    norm = cuda_kernel(file, f"norm<{shared.spelled(centered)}, {names}, {shape}>", x)
    norm[rows, THREADS](n, x, shared.as_stored(weight, offset), bias, eps, out, mean, rstd)


def is_fastest(x: Any, *vectors: Any) -> bool:
    """Whether this rung was the fastest on an H200 for rows of this type and length."""
    import torch

    given = [x, *(each for each in vectors if each is not None)]
    is_whole = x.shape[-1] == THREADS * PACKS * 8
    return is_whole and all(each.dtype == torch.bfloat16 and each.data_ptr() % 16 == 0 for each in given)


_HELD = "vectorized", Message("kernels.norm-row-held")
_READ_TWICE = "read_twice", Message("kernels.norm-read-twice")
_ADDED = "fused_residual", Message("kernels.norm-added")
_BACKWARD = "backward_fused", Message("kernels.norm-gradients")


def chosen(x: Any, *vectors: Any, direction: str = "forward", where: object = None) -> tuple[str, Message]:
    """Returns the rung for rows and their weight and bias, and why; it is the same `where` ever they are.

    direction: forward, add (with a residual) or backward.
    """
    if direction != "forward":
        return _ADDED if direction == "add" else _BACKWARD
    return _READ_TWICE if is_fastest(x, *vectors) else _HELD
