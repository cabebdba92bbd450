"""RMS norm, rungs 7 and 8: Triton, forward and backward.

maths    out = x rstd * weight, rstd = 1 / sqrt(Σ x² / n + eps), of each row;
         backward: x̂ = x rstd, g = dy * weight, dx = rstd (g - x̂ Σ (g x̂) / n) of each row, dweight = Σ dy x̂ of
         each column
layout   x, out, dy, dx, residual, sum: (rows, n), contiguous; weight: (n) or None; rstd: (rows) or None
cost     4 FLOPs an element, backward 11; at least 2 rows n sizeof(T) bytes, with a residual 4, backward 3
improves vectorized and backward_fused: a row is an array, its sums are `tl.sum`
idea     layer_norm's kernels, compiled with CENTERED false: then no mean is left in them. A long row is
         read twice, as there
"""

from flashpath.kernels.common.norm.triton_norm import (
    add_partials_kernel,
    backward_kernel,
    forward_kernel,
)

__all__ = ["add_partials_kernel", "backward_kernel", "forward_kernel"]
