"""Scores of one head for a softmax that reads them in fp16: s = scale · q kᵀ. q, k: (n, 16), s: (n, n), all fp16.

Program (x, y): the scores of queries 32 x to 32 x + 31 with keys 32 y to 32 y + 31.
"""

import triton
import triton.language as tl


@triton.jit
def scores_kernel(q_ptr, k_ptr, s_ptr, n, scale, BLOCK: tl.constexpr):
    query = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)  # (BLOCK)
    key = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)  # (BLOCK)
    c = tl.arange(0, 16)
    q = tl.load(q_ptr + query[:, None] * 16 + c[None, :], mask=query[:, None] < n, other=0.0)  # (BLOCK, 16)
    k = tl.load(k_ptr + key[:, None] * 16 + c[None, :], mask=key[:, None] < n, other=0.0)  # (BLOCK, 16)
    s = tl.dot(q, tl.trans(k)).to(tl.float16)  # (BLOCK, BLOCK)
    s = (s * scale).to(tl.float16)
    tl.store(s_ptr + query[:, None] * n + key[None, :], s, mask=(query[:, None] < n) & (key[None, :] < n))
