"""Histogram, the reference: PyTorch's tensor operations, with the roundings of torch.histc on a GPU.

torch.histc itself returns counts of the input's type, in float32 rounded from 2^24 on, and takes no half
types. Counts here are int64, and half types are counted as the float32 numbers they are.
"""

from __future__ import annotations

from typing import Any

from flashpath.kernels.histogram.host import prepare


def torch_bins(x: Any, bins: int, lo: float, hi: float) -> Any:
    """The bin of each value within the bounds, which are one of those that `prepare` lets through."""
    import torch

    wide = torch.float32 if x.dtype.is_floating_point else torch.int64
    values = x.reshape(-1).to(wide)
    values = values[(values >= lo) & (values <= hi)]
    # As tensors: a number of Python's would be divided by in float64, or multiplied by its reciprocal.
    first, last, many = (torch.tensor(each, dtype=wide, device=x.device) for each in (lo, hi, bins))
    position = (values - first) * many
    width = last - first
    found = position / width if x.dtype.is_floating_point else position // width
    return found.to(torch.int64).clamp(max=bins - 1)


def reference(x: Any, bins: int, lo: float, hi: float, out: Any | None = None) -> Any:
    """counts[b] of the values in [lo, hi] that fall into bin b of `bins` equal ones"""
    import torch

    problem = prepare(x, bins, lo, hi, out)
    found = torch_bins(x, bins, problem.lo, problem.hi)
    return problem.out.copy_(torch.bincount(found, minlength=bins))
