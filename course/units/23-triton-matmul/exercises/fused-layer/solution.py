"""A layer in one launch: y = r + silu(x wᵀ + bias), for any sizes, by programs that stay.

x: (m, k), w: (n, k), bias: (n), r and y: (m, n), float16; everything in between in float32. silu(t) = t / (1 + e^-t).
Tiles of y are numbered row by row; a program takes every so-many-th.
"""

import triton
import triton.language as tl


@triton.jit
def layer(
    x_ptr,
    w_ptr,
    bias_ptr,
    r_ptr,
    y_ptr,
    m,
    n,
    k,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    tiles_n = tl.cdiv(n, BLOCK_N)
    tiles = tl.cdiv(m, BLOCK_M) * tiles_n
    for tile in range(tl.program_id(0), tiles, tl.num_programs(0)):
        rows = tile // tiles_n * BLOCK_M + tl.arange(0, BLOCK_M)
        columns = tile % tiles_n * BLOCK_N + tl.arange(0, BLOCK_N)
        total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
        for k0 in range(0, k, BLOCK_K):
            along = k0 + tl.arange(0, BLOCK_K)
            x_mask = (rows < m)[:, None] & (along < k)[None, :]
            w_mask = (along < k)[:, None] & (columns < n)[None, :]
            x = tl.load(x_ptr + rows[:, None] * k + along[None, :], mask=x_mask, other=0.0)
            w = tl.load(w_ptr + along[:, None] + columns[None, :] * k, mask=w_mask, other=0.0)
            total = tl.dot(x, w, total)
        inside = (rows < m)[:, None] & (columns < n)[None, :]
        at = rows[:, None] * n + columns[None, :]
        bias = tl.load(bias_ptr + columns, mask=columns < n, other=0.0).to(tl.float32)
        total += bias[None, :]
        total = total / (1.0 + tl.exp(-total))
        total += tl.load(r_ptr + at, mask=inside, other=0.0).to(tl.float32)
        tl.store(y_ptr + at, total.to(tl.float16), mask=inside)
