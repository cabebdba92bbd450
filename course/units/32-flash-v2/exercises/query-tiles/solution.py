"""FlashAttention 2, the forward pass without a mask: queries outside.

A program for each 16 queries of a head. q, o: (heads, queries, d), k, v: (heads, keys, d), fp16; lse: (heads, queries),
float32, natural logarithms. keys >= 1, d <= BLOCK_D.
"""

import triton
import triton.language as tl

LOG2E = tl.constexpr(1.4426950408889634)
LN2 = tl.constexpr(0.6931471805599453)


@triton.jit
def forward_kernel(
    q_ptr,
    k_ptr,
    v_ptr,
    o_ptr,
    lse_ptr,
    queries,
    keys,
    d,
    scale,
    BLOCK_Q: tl.constexpr,
    BLOCK_K: tl.constexpr,
    BLOCK_D: tl.constexpr,
):
    head = tl.program_id(1)
    q_ptr, o_ptr = q_ptr + head * queries * d, o_ptr + head * queries * d
    k_ptr, v_ptr = k_ptr + head * keys * d, v_ptr + head * keys * d
    query = tl.program_id(0) * BLOCK_Q + tl.arange(0, BLOCK_Q)  # (BLOCK_Q)
    column = tl.arange(0, BLOCK_D)  # (BLOCK_D)
    inside = (query < queries)[:, None] & (column < d)[None, :]
    q = tl.load(q_ptr + query[:, None] * d + column[None, :], mask=inside, other=0.0)

    m = tl.full((BLOCK_Q,), float("-inf"), tl.float32)
    l = tl.zeros((BLOCK_Q,), tl.float32)
    o = tl.zeros((BLOCK_Q, BLOCK_D), tl.float32)
    for first_key in range(0, keys, BLOCK_K):
        key = first_key + tl.arange(0, BLOCK_K)  # (BLOCK_K)
        k_inside = (key < keys)[:, None] & (column < d)[None, :]
        k = tl.load(k_ptr + key[:, None] * d + column[None, :], mask=k_inside, other=0.0)
        v = tl.load(v_ptr + key[:, None] * d + column[None, :], mask=k_inside, other=0.0)
        s = tl.dot(q, tl.trans(k)) * (scale * LOG2E)  # (BLOCK_Q, BLOCK_K), exponents of 2
        s = tl.where((key < keys)[None, :], s, float("-inf"))
        m_new = tl.maximum(m, tl.max(s, 1))
        alpha = tl.exp2(m - m_new)
        p = tl.exp2(s - m_new[:, None])
        l = l * alpha + tl.sum(p, 1)
        o = o * alpha[:, None] + tl.dot(p.to(tl.float16), v)
        m = m_new

    o = o * (1.0 / l)[:, None]
    tl.store(o_ptr + query[:, None] * d + column[None, :], o.to(tl.float16), mask=inside)
    tl.store(lse_ptr + head * queries + query, (m + tl.log2(l)) * LN2, mask=query < queries)
