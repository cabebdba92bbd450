"""A softmax in two launches: maximum and sum of each row, then the quotients. x, out: (rows, cols); both: (rows, 2)."""

import triton
import triton.language as tl


@triton.jit
def normaliser(x_ptr, both_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * cols + column, mask=column < cols, other=float("-inf"))
    m = tl.max(x, 0)
    tl.store(both_ptr + 2 * row, m)
    tl.store(both_ptr + 2 * row + 1, tl.sum(tl.exp(x - m), 0))


@triton.jit
def weights(x_ptr, both_ptr, out_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    inside = column < cols
    x = tl.load(x_ptr + row * cols + column, mask=inside)
    m, total = tl.load(both_ptr + 2 * row), tl.load(both_ptr + 2 * row + 1)
    tl.store(out_ptr + row * cols + column, tl.exp(x - m) / total, mask=inside)
