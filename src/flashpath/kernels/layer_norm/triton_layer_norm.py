"""Layer norm, rungs 8 and 9: Triton, forward and backward.

maths    out = (x - mean) rstd * weight + bias, rstd = 1 / sqrt(Σ (x - mean)² / n + eps), of each row;
         backward: x̂ = (x - mean) rstd, g = dy * weight, dx = rstd (g - Σ g / n - x̂ Σ (g x̂) / n) of each row,
         dweight = Σ dy x̂ and dbias = Σ dy of each column
layout   x, out, dy, dx, residual, sum: (rows, n), contiguous; weight, bias: (n) or None; mean, rstd: (rows)
         or None; partials: (programs, n) of dweight, and of dbias
cost     8 FLOPs an element, backward 15; at least 2 rows n sizeof(T) bytes, with a residual 4, backward 3
improves vectorized and backward_fused: a row is an array, its sums are `tl.sum`; what was several kernels
         with lanes, packs and barriers is one
idea     one program per row, which is held whole: a power of two of columns, those beyond the row masked.
         A long row is read twice, for its moments and to be written, the second time from the L2 cache: the
         first read asks that it stay there, the second lets it go. No register holds the row while its sums
         cross the block, so an SM has room for three rows, not two. Each thread takes the mean of its own
         columns and their squared distances from it; then Σ (x - mean)² of the row is the sum of these and of
         count (own mean - mean)². Nothing cancels, whatever the mean is and wherever an outlier is.
         Backward, few programs stay for many rows each and sum dweight and dbias on the way; a second kernel
         adds up what they leave.
"""

from flashpath.kernels.common.norm.triton_norm import (
    add_partials_kernel,
    backward_kernel,
    forward_kernel,
)

__all__ = ["add_partials_kernel", "backward_kernel", "forward_kernel"]
