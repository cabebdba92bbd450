"""The whole softmax of a row in one program. x, out: (rows, cols)."""

import triton
import triton.language as tl


@triton.jit
def fused(x_ptr, out_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    inside = column < cols
    x = tl.load(x_ptr + row * cols + column, mask=inside, other=float("-inf"))
    e = tl.exp(x - tl.max(x, 0))
    tl.store(out_ptr + row * cols + column, e / tl.sum(e, 0), mask=inside)
