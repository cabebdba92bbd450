"""The gradient of weights: g[i, j] = Σ_t d[t, i] x[t, j], in the full precision of float32.

d: (tokens, n), x: (tokens, k), g: (n, k), all float32. A program for each tile of g.
"""

import triton
import triton.language as tl


@triton.jit
def gradient(d_ptr, x_ptr, g_ptr, tokens, n, k, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, BLOCK_T: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    columns = tl.program_id(1) * BLOCK_K + tl.arange(0, BLOCK_K)
    total = tl.zeros((BLOCK_N, BLOCK_K), tl.float32)
    for t0 in range(0, tokens, BLOCK_T):
        steps = t0 + tl.arange(0, BLOCK_T)
        d_mask = (rows < n)[:, None] & (steps < tokens)[None, :]
        x_mask = (steps < tokens)[:, None] & (columns < k)[None, :]
        d = tl.load(d_ptr + rows[:, None] + steps[None, :] * n, mask=d_mask, other=0.0)
        x = tl.load(x_ptr + steps[:, None] * k + columns[None, :], mask=x_mask, other=0.0)
        total = tl.dot(d, x, total, input_precision="ieee")
    g_mask = (rows < n)[:, None] & (columns < k)[None, :]
    tl.store(g_ptr + rows[:, None] * k + columns[None, :], total, mask=g_mask)
