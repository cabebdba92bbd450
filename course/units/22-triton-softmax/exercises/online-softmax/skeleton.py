"""The softmax of long rows, BLOCK columns at a time: the maximum, then the sum, then the quotients.

A program for each row. x, out: (rows, cols), row by row.
"""

import triton
import triton.language as tl


@triton.jit
def online_softmax_kernel(x_ptr, out_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)  # (BLOCK)
    m = float("-inf")
    for start in range(0, cols, BLOCK):
        x = tl.load(x_ptr + row * cols + start + column, mask=start + column < cols, other=float("-inf"))
        m = tl.maximum(m, tl.max(x, 0))
    total = 0.0  # TODO: this pass is not needed: the sum can be kept along with the maximum
    for start in range(0, cols, BLOCK):
        x = tl.load(x_ptr + row * cols + start + column, mask=start + column < cols, other=float("-inf"))
        total = total + tl.sum(tl.exp(x - m), 0)
    for start in range(0, cols, BLOCK):
        inside = start + column < cols
        x = tl.load(x_ptr + row * cols + start + column, mask=inside)
        tl.store(out_ptr + row * cols + start + column, tl.exp(x - m) / total, mask=inside)
