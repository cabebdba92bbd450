"""Weights of attention from scores of one head; row r sees the columns 0 to r. A program for each row.

s: (n, n), the products of queries and keys, fp32. p: (n, n), fp32, 0 where nothing is seen. n <= BLOCK.
"""

import triton
import triton.language as tl


@triton.jit
def weights_kernel(s_ptr, p_ptr, n, scale, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)  # (BLOCK)
    inside = column < n
    s = tl.load(s_ptr + row * n + column, mask=inside, other=0.0)
    hidden = tl.where(column > row, 1.0, 0.0)  # 1 for keys of the future, and beyond the row
    z = s * scale - 10000.0 * hidden
    e = tl.exp(z - tl.max(z, 0))
    p = e / tl.sum(e, 0)
    tl.store(p_ptr + row * n + column, p, mask=inside)
