"""Scan, the reference: PyTorch's own, half types summed in float32, segments one after the other."""

from __future__ import annotations

import itertools
from typing import Any

from flashpath.kernels.scan.problem import prepare


def torch_scan(x: Any, op: str = "sum", exclusive: bool = False, flags: Any | None = None) -> Any:
    """What PyTorch offers, with nothing around it but what an exclusive or segmented scan needs."""
    import torch  # here: listing the ladder shall not wait for it

    if flags is not None:
        return _segmented(x, op, exclusive, flags)
    if exclusive:
        # One place to the right, the identity first.
        shifted = torch.empty_like(x)
        shifted[..., 1:] = x[..., :-1]
        shifted[..., :1] = identity(x, op)
        x = shifted
    return torch.cumsum(x, -1) if op == "sum" else torch.cummax(x, -1).values


def identity(x: Any, op: str) -> float:
    """What an exclusive scan starts with: 0, or the least value of the type."""
    if op == "sum":
        return 0
    return float("-inf") if x.dtype.is_floating_point else -(2**31)


def _segmented(x: Any, op: str, exclusive: bool, flags: Any) -> Any:
    """Each segment by itself: plain, and exact where subtracting running sums would not be."""
    import torch

    if not x.numel():
        return torch_scan(x, op, exclusive)
    rows, heads = x.reshape(-1, x.shape[-1]), flags.reshape(-1, x.shape[-1])
    results: list[Any] = []
    for row, is_head in zip(rows, heads, strict=True):
        starts = [0, *(int(i) for i in is_head.nonzero() if i > 0), row.numel()]
        results += [torch_scan(row[a:b], op, exclusive) for a, b in itertools.pairwise(starts)]
    return torch.cat(results).view(x.shape)


def reference(
    x: Any, op: str = "sum", exclusive: bool = False, flags: Any | None = None, out: Any | None = None
) -> Any:
    """Every prefix of a vector, or of each row."""
    dtype = prepare(x, op, flags, out).out.dtype
    # On a GPU, torch.cumsum of half types rounds partial sums to the half type, and not always the same ones.
    wide = x.float() if x.dtype.is_floating_point else x
    result = torch_scan(wide, op, exclusive, flags).to(dtype)
    return result if out is None else out.copy_(result)
