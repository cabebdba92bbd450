"""`histogram`: how many elements fall into each of a row of equal bins."""

import torch

from flashpath.kernels.histogram import host
from flashpath.ops.registration import define, tell_if_slow

Tensor = torch.Tensor


def _forward(x: Tensor, bins: int, lo: float, hi: float) -> Tensor:
    tell_if_slow("histogram", x)
    return host.vectorized(x.contiguous(), bins, lo, hi)


def _fake(x: Tensor, bins: int, _lo: float, _hi: float) -> Tensor:
    return x.new_empty(bins, dtype=torch.int64)


_histogram = define("histogram", "(Tensor x, int bins, float lo, float hi) -> Tensor", _forward, _fake)


def histogram(x: Tensor, bins: int, lo: float, hi: float) -> Tensor:
    """int64 counts of the elements in `bins` equal parts of [lo, hi], hi included; others are left out."""
    return _histogram(x, bins, lo, hi)
