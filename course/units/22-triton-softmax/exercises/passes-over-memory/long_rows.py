"""Rows that are too long for one tile, BLOCK columns at a time. x, out: (rows, cols)."""

import triton
import triton.language as tl


@triton.jit
def online(x_ptr, out_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    m = float("-inf")
    total = 0.0
    for start in range(0, cols, BLOCK):
        x = tl.load(x_ptr + row * cols + start + column, mask=start + column < cols, other=float("-inf"))
        larger = tl.maximum(m, tl.max(x, 0))
        total = total * tl.exp(m - larger) + tl.sum(tl.exp(x - larger), 0)
        m = larger
    for start in range(0, cols, BLOCK):
        inside = start + column < cols
        x = tl.load(x_ptr + row * cols + start + column, mask=inside)
        tl.store(out_ptr + row * cols + start + column, tl.exp(x - m) / total, mask=inside)
