"""A linear layer: y[i, j] = Σ_p x[i, p] w[j, p], for any m, n and k.

x: (m, k), w: (n, k), y: (m, n), all float16; sums in float32. A program for each tile of y.
"""

import triton
import triton.language as tl


@triton.jit
def linear(x_ptr, w_ptr, y_ptr, m, n, k, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    # TODO: for each step along k: a tile of x (BLOCK_M, BLOCK_K), a tile of w (BLOCK_K, BLOCK_N), their product
    y_mask = (rows < m)[:, None] & (columns < n)[None, :]
    tl.store(y_ptr + rows[:, None] * n + columns[None, :], total.to(tl.float16), mask=y_mask)
