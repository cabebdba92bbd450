"""One step of the outer loop of algorithm 1: one tile of keys, and all queries come by (lines 8 to 13).

A program for each 16 queries. q, o: (queries, d); m, l: (queries); k, v: (keys, d) with keys <= BLOCK_K, d <= BLOCK_D.
q, k, v are fp16. o, m and l are float32: what earlier tiles left, with o divided by l, and what this one leaves.
"""

import triton
import triton.language as tl


@triton.jit
def step_kernel(
    q_ptr,
    k_ptr,
    v_ptr,
    m_ptr,
    l_ptr,
    o_ptr,
    queries,
    keys,
    d,
    scale,
    BLOCK_Q: tl.constexpr,
    BLOCK_K: tl.constexpr,
    BLOCK_D: tl.constexpr,
):
    query = tl.program_id(0) * BLOCK_Q + tl.arange(0, BLOCK_Q)  # (BLOCK_Q)
    key = tl.arange(0, BLOCK_K)  # (BLOCK_K)
    column = tl.arange(0, BLOCK_D)  # (BLOCK_D)
    q_inside = (query < queries)[:, None] & (column < d)[None, :]
    k_inside = (key < keys)[:, None] & (column < d)[None, :]
    k = tl.load(k_ptr + key[:, None] * d + column[None, :], mask=k_inside, other=0.0)
    v = tl.load(v_ptr + key[:, None] * d + column[None, :], mask=k_inside, other=0.0)
    q = tl.load(q_ptr + query[:, None] * d + column[None, :], mask=q_inside, other=0.0)
    o = tl.load(o_ptr + query[:, None] * d + column[None, :], mask=q_inside, other=0.0)
    m = tl.load(m_ptr + query, mask=query < queries, other=float("-inf"))
    l = tl.load(l_ptr + query, mask=query < queries, other=0.0)

    s = tl.dot(q, tl.trans(k)) * scale  # (BLOCK_Q, BLOCK_K)
    s = tl.where((key < keys)[None, :], s, float("-inf"))
    m_new = tl.maximum(m, tl.max(s, 1))
    alpha = tl.exp(m - m_new)
    p = tl.exp(s - m_new[:, None])
    l_new = l * alpha + tl.sum(p, 1)
    o = (o * (l * alpha)[:, None] + tl.dot(p.to(tl.float16), v)) / l_new[:, None]

    tl.store(o_ptr + query[:, None] * d + column[None, :], o, mask=q_inside)
    tl.store(m_ptr + query, m_new, mask=query < queries)
    tl.store(l_ptr + query, l_new, mask=query < queries)
