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
    for k0 in range(0, k, BLOCK_K):
        along = k0 + tl.arange(0, BLOCK_K)
        x_mask = (rows < m)[:, None] & (along < k)[None, :]
        w_mask = (along < k)[:, None] & (columns < n)[None, :]
        x = tl.load(x_ptr + rows[:, None] * k + along[None, :], mask=x_mask, other=0.0)
        w = tl.load(w_ptr + along[:, None] + columns[None, :] * k, mask=w_mask, other=0.0)
        total = tl.dot(x, w, total)
    y_mask = (rows < m)[:, None] & (columns < n)[None, :]
    tl.store(y_ptr + rows[:, None] * n + columns[None, :], total.to(tl.float16), mask=y_mask)
