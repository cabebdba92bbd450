"""Pass 1 of naive attention, for all heads: s = scale · q kᵀ, and -inf where a key is hidden.

q, k: (batch, n, heads, 64), fp16; s: (batch, heads, n, n), fp32. Query i sees the keys 0 to i. Program (x, y, z): head
x % heads of sequence x // heads, queries 32 y to 32 y + 31, keys 32 z to 32 z + 31.
"""

import triton
import triton.language as tl


@triton.jit
def scores_kernel(q_ptr, k_ptr, s_ptr, n, heads, scale, BLOCK: tl.constexpr):
    query = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)  # (BLOCK)
    key = tl.program_id(2) * BLOCK + tl.arange(0, BLOCK)  # (BLOCK)
    c = tl.arange(0, 64)
    # TODO: tiles of q and k, their product, scale and mask; and no product where nobody sees anything
    q = tl.load(q_ptr + query[:, None] * 64 + c[None, :], mask=query[:, None] < n, other=0.0)  # (BLOCK, 64)
    s = tl.zeros((BLOCK, BLOCK), tl.float32) + tl.sum(q.to(tl.float32), 1)[:, None]
    tl.store(s_ptr + query[:, None] * n + key[None, :], s, mask=(query[:, None] < n) & (key[None, :] < n))
