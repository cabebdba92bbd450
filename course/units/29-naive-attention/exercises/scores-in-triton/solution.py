"""Pass 1 of naive attention, for all heads: s = scale · q kᵀ, and -inf where a key is hidden.

q, k: (batch, n, heads, 64), fp16; s: (batch, heads, n, n), fp32. Query i sees the keys 0 to i. Program (x, y, z): head
x % heads of sequence x // heads, queries 32 y to 32 y + 31, keys 32 z to 32 z + 31.
"""

import triton
import triton.language as tl


@triton.jit
def scores_kernel(q_ptr, k_ptr, s_ptr, n, heads, scale, BLOCK: tl.constexpr):
    batch = tl.program_id(0) // heads
    head = tl.program_id(0) % heads
    query = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)  # (BLOCK)
    key = tl.program_id(2) * BLOCK + tl.arange(0, BLOCK)  # (BLOCK)
    c = tl.arange(0, 64)
    s = tl.full((BLOCK, BLOCK), float("-inf"), tl.float32)
    if tl.program_id(2) <= tl.program_id(1):  # tiles right of the diagonal are hidden whole
        q_row = (batch * n + query) * heads + head  # (BLOCK): rows of 64 elements
        k_row = (batch * n + key) * heads + head
        q = tl.load(q_ptr + q_row[:, None] * 64 + c[None, :], mask=query[:, None] < n, other=0.0)  # (BLOCK, 64)
        k = tl.load(k_ptr + k_row[:, None] * 64 + c[None, :], mask=key[:, None] < n, other=0.0)  # (BLOCK, 64)
        products = tl.dot(q, tl.trans(k))  # (BLOCK, BLOCK), float32
        s = tl.where(key[None, :] <= query[:, None], products * scale, float("-inf"))
    s_row = tl.program_id(0) * n + query  # (BLOCK): rows of n elements
    tl.store(s_ptr + s_row[:, None] * n + key[None, :], s, mask=(query[:, None] < n) & (key[None, :] < n))
