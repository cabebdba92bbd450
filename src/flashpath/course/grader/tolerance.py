"""How far a floating-point result may lie from the float64 reference.

    allowed = u_out · |expected|  +  g(depth) · u_sum · scale  +  smallest
    g(depth) = depth up to 4, and 2 · √depth beyond

`u_out` is half a unit in the last place of the output's type: its one rounding into memory. `u_sum` is that
of the type that sums are kept in, float32 for the narrow types: a kernel that sums in fp16 or bf16, or lets
tensor cores round float32 to tf32, errs by about 2^13 times as much a step. `scale` is the size of what was
summed, which cancellation does not shrink.

Why the square root: d roundings, each at most u · scale and as often up as down, come to √d · u · scale, and
for sums of random numbers in any order, one after the other or as a tree, the standard deviation of the
error is at most a quarter of that; twice √d is eight of those. The bound that no input can exceed,
d · u · scale, would let fp16 sums of a few thousand numbers pass. The values that the grader draws are
random, or have sums that are exact.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from flashpath.course.grader.dtypes import Array, arithmetic_half_ulp, finfo, half_ulp, smallest

_CERTAIN_DEPTH = 4.0


def growth(depth: Array | float) -> Any:
    """How many roundings' worth of error `depth` roundings make."""
    depth = np.maximum(np.asarray(depth, np.float64), 1.0)
    return np.where(depth <= _CERTAIN_DEPTH, depth, math.sqrt(_CERTAIN_DEPTH) * np.sqrt(depth))


def allowed_error(
    expected: Array, dtype: np.dtype[Any], depth: Array | float = 1.0, scale: Array | float | None = None
) -> Array:
    """For each element of the float64 `expected`, the most that an output of type `dtype` may differ by.

    What is infinite or NaN has no error: it must be of the same kind, and is compared elsewhere.
    """
    size = np.where(np.isfinite(expected), np.abs(expected), 0.0)
    summed = size if scale is None else np.broadcast_to(np.abs(np.asarray(scale, np.float64)), size.shape)
    summed = np.where(np.isfinite(summed), summed, 0.0)
    # Below the normal numbers the steps no longer shrink: rounding costs what it does at the smallest one.
    rounding = half_ulp(dtype) * np.maximum(size, float(finfo(dtype).tiny))
    return rounding + growth(depth) * arithmetic_half_ulp(dtype) * summed + smallest(dtype)
