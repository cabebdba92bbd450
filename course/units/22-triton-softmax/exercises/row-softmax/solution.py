"""The softmax of each row: out[r, c] = e^(x[r, c] - m) / Σ e^(x[r, :] - m), m = max x[r, :].

A program for each row. Rows of x begin x_stride elements apart, rows of out cols elements; cols <= BLOCK.
"""

import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x_ptr, out_ptr, x_stride, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)  # (BLOCK)
    inside = column < cols
    x = tl.load(x_ptr + row * x_stride + column, mask=inside, other=float("-inf"))
    m = tl.max(x, 0)
    e = tl.exp(x - m)
    total = tl.sum(e, 0)
    tl.store(out_ptr + row * cols + column, e / total, mask=inside)
