"""The softmax of long rows, BLOCK columns at a time: maximum and sum in one pass, the quotients in a second.

A program for each row. x, out: (rows, cols), row by row.
"""

import triton
import triton.language as tl


@triton.jit
def online_softmax_kernel(x_ptr, out_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)  # (BLOCK)
    m = float("-inf")  # the largest element so far
    total = 0.0  # Σ e^(x - m) so far
    for start in range(0, cols, BLOCK):
        x = tl.load(x_ptr + row * cols + start + column, mask=start + column < cols, other=float("-inf"))
        larger = tl.maximum(m, tl.max(x, 0))
        total = total * tl.exp(m - larger) + tl.sum(tl.exp(x - larger), 0)
        m = larger
    for start in range(0, cols, BLOCK):
        inside = start + column < cols
        x = tl.load(x_ptr + row * cols + start + column, mask=inside)
        tl.store(out_ptr + row * cols + start + column, tl.exp(x - m) / total, mask=inside)
