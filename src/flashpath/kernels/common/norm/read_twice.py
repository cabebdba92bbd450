"""The launch of read_twice, of layer_norm and of rms_norm, and the rows it is the fastest for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from flashpath.kernels.building import cuda_kernel
from flashpath.kernels.common.norm import rows as shared

# Threads of a block, packs of each at a time, and blocks of an SM where all threads have as many packs of
# bfloat16; those of float16 would spill.
THREADS, PACKS, BLOCKS = 512, 4, 3


def forward(
    file: Path, centered: bool, x: Any, weight: Any, bias: Any, eps: float, out: Any, mean: Any, rstd: Any
) -> None:
    rows, n = x.shape
    if not rows or not n:
        return
    types = ", ".join(shared.type_names(x, weight, bias))
    width = shared.pack_width(n, [x, out], [weight, bias])
    is_whole = n == THREADS * PACKS * width
    blocks = BLOCKS if is_whole and types == shared.BRAIN_TYPES else 1
    flags = map(shared.spelled, [weight is not None, bias is not None, is_whole])
    shape = ", ".join([str(width), str(blocks), *flags])
    norm = cuda_kernel(file, f"norm<{shared.spelled(centered)}, {types}, {shape}>", x)
    norm[rows, THREADS](n, x, weight, bias, eps, out, mean, rstd)


def is_fastest(x: Any, *vectors: Any) -> bool:
    """Whether no rung was faster on an H200 for rows of this type and length."""
    import torch

    given = [x, *(each for each in vectors if each is not None)]
    is_whole = x.shape[-1] == THREADS * PACKS * 8
    return is_whole and all(each.dtype == torch.bfloat16 and each.data_ptr() % 16 == 0 for each in given)
