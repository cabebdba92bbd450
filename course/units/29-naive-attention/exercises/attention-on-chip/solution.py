"""Attention of one head in one kernel, for sequences whose scores fit on the chip: o = softmax(scale · q kᵀ) v.

q, k, v, o: (n, 32), fp16; n <= KEYS. Query i sees the keys 0 to i. Program x: queries 16 x to 16 x + 15, all keys.
"""

import triton
import triton.language as tl


@triton.jit
def attention_kernel(q_ptr, k_ptr, v_ptr, o_ptr, n, scale, QUERIES: tl.constexpr, KEYS: tl.constexpr):
    query = tl.program_id(0) * QUERIES + tl.arange(0, QUERIES)  # (QUERIES)
    key = tl.arange(0, KEYS)  # (KEYS)
    c = tl.arange(0, 32)
    q = tl.load(q_ptr + query[:, None] * 32 + c[None, :], mask=query[:, None] < n, other=0.0)  # (QUERIES, 32)
    k = tl.load(k_ptr + key[:, None] * 32 + c[None, :], mask=key[:, None] < n, other=0.0)  # (KEYS, 32)
    v = tl.load(v_ptr + key[:, None] * 32 + c[None, :], mask=key[:, None] < n, other=0.0)  # (KEYS, 32)
    s = tl.dot(q, tl.trans(k)) * scale  # (QUERIES, KEYS), float32
    s = tl.where(key[None, :] <= query[:, None], s, float("-inf"))
    e = tl.exp(s - tl.max(s, 1)[:, None])
    p = e / tl.sum(e, 1)[:, None]
    o = tl.dot(p.to(tl.float16), v)  # (QUERIES, 32)
    tl.store(o_ptr + query[:, None] * 32 + c[None, :], o.to(tl.float16), mask=query[:, None] < n)
