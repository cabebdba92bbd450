"""c = a b in tiles. a: (m, k), b: (k, n), c: (m, n), float16; a program for each tile of c."""

import triton
import triton.language as tl


@triton.jit
def product(a_ptr, b_ptr, c_ptr, m, n, k, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for k0 in range(0, k, BLOCK_K):
        along = k0 + tl.arange(0, BLOCK_K)
        a_mask = (rows < m)[:, None] & (along < k)[None, :]
        b_mask = (along < k)[:, None] & (columns < n)[None, :]
        a = tl.load(a_ptr + rows[:, None] * k + along[None, :], mask=a_mask, other=0.0)
        b = tl.load(b_ptr + along[:, None] * n + columns[None, :], mask=b_mask, other=0.0)
        total = tl.dot(a, b, total)
    c_mask = (rows < m)[:, None] & (columns < n)[None, :]
    tl.store(c_ptr + rows[:, None] * n + columns[None, :], total.to(tl.float16), mask=c_mask)
