"""`histogram`: how many elements fall into each of a row of equal bins."""

from typing import Any

import torch

from flashpath.kernels.arguments import require_tensor
from flashpath.kernels.histogram import host
from flashpath.kernels.histogram.ladder import LADDER
from flashpath.ops.checking import SYMBOLS, number, refuse, require_tensors
from flashpath.ops.plans import planned
from flashpath.ops.registration import define, tell_if_slow

Tensor = torch.Tensor


def _forward(x: Tensor, bins: int, lo: float, hi: float) -> Tensor:
    tell_if_slow("histogram", x)
    return LADDER.best(x, bins, lo, hi).rung(x.contiguous(), bins, lo, hi)


def _fake(x: Tensor, bins: int, lo: float, hi: float) -> Tensor:
    if not any(isinstance(each, SYMBOLS) for each in (bins, lo, hi)):
        return host.prepare(x.contiguous(), bins, lo, hi, None).out
    require_tensor("histogram", "x", x.contiguous(), host.DTYPES)
    return x.new_empty(bins, dtype=torch.int64)


_histogram = define("histogram", "(Tensor x, int bins, float lo, float hi) -> Tensor", _forward, _fake)


@planned
def histogram(x: Tensor, bins: int, lo: float, hi: float) -> Tensor:
    """int64 counts of the elements in `bins` equal parts of [lo, hi], hi included; others are left out.

    As torch.histc with these bounds. x: float32, float16, bfloat16 or int32, of any shape. NaN and
    infinities are in no bin. No gradient.
    """
    require_tensors("histogram", x=x)
    given: Any = bins
    if not isinstance(given, (int, torch.SymInt)):
        refuse("ops.bins", given=f"{given!r:.80}", most_bins=host.MOST_BINS)
    return _histogram(x, bins, number("histogram", "lo", lo), number("histogram", "hi", hi))
