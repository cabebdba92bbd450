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
    x = tl.load(x_ptr + row * x_stride + column, mask=inside)  # TODO: what should stand beyond the end of the row?
    # TODO: the maximum of the row, the exponentials, their sum
    y = x
    tl.store(out_ptr + row * cols + column, y, mask=inside)
