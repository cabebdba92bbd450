"""The logarithm of the softmax of each row, as a loss function needs it. x, out: (rows, cols); cols <= BLOCK."""

import triton
import triton.language as tl


@triton.jit
def log_softmax_kernel(x_ptr, out_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)  # (BLOCK)
    inside = column < cols
    x = tl.load(x_ptr + row * cols + column, mask=inside, other=float("-inf"))
    m = tl.max(x, 0)
    shifted = x - m
    total = tl.sum(tl.exp(shifted), 0)  # at least 1: the largest element gives e^0
    tl.store(out_ptr + row * cols + column, shifted - tl.log(total), mask=inside)
