"""The causal forward pass: query i sees the keys 0 to i. Blocks of keys that nobody sees are left out, others masked where needed.

A program for each 32 queries of a head, keys in tiles of 16. q, k, v, o: (heads, n, d), fp16; lse: (heads, n), float32,
natural logarithms. d <= BLOCK_D.
"""

import triton
import triton.language as tl

LOG2E = tl.constexpr(1.4426950408889634)
LN2 = tl.constexpr(0.6931471805599453)


@triton.jit
def update(s, v, m, l, o):
    """The online softmax of a tile: s are exponents of 2, -inf where a key is not seen."""
    m_new = tl.maximum(m, tl.max(s, 1))
    alpha = tl.exp2(m - m_new)
    p = tl.exp2(s - m_new[:, None])
    return m_new, l * alpha + tl.sum(p, 1), o * alpha[:, None] + tl.dot(p.to(tl.float16), v)


@triton.jit
def causal_kernel(
    q_ptr,
    k_ptr,
    v_ptr,
    o_ptr,
    lse_ptr,
    n,
    d,
    scale,
    BLOCK_Q: tl.constexpr,
    BLOCK_K: tl.constexpr,
    BLOCK_D: tl.constexpr,
):
    head = tl.program_id(1)
    q_ptr, k_ptr, v_ptr, o_ptr = (
        q_ptr + head * n * d,
        k_ptr + head * n * d,
        v_ptr + head * n * d,
        o_ptr + head * n * d,
    )
    first_query = tl.program_id(0) * BLOCK_Q
    query = first_query + tl.arange(0, BLOCK_Q)  # (BLOCK_Q)
    column = tl.arange(0, BLOCK_D)  # (BLOCK_D)
    inside = (query < n)[:, None] & (column < d)[None, :]
    q = tl.load(q_ptr + query[:, None] * d + column[None, :], mask=inside, other=0.0)

    m = tl.full((BLOCK_Q,), float("-inf"), tl.float32)
    l = tl.zeros((BLOCK_Q,), tl.float32)
    o = tl.zeros((BLOCK_Q, BLOCK_D), tl.float32)
    for first_key in range(0, first_query, BLOCK_K):  # seen by all queries of the program, and all there
        key = first_key + tl.arange(0, BLOCK_K)  # (BLOCK_K)
        place = key[:, None] * d + column[None, :]
        k = tl.load(k_ptr + place, mask=(column < d)[None, :], other=0.0)
        v = tl.load(v_ptr + place, mask=(column < d)[None, :], other=0.0)
        s = tl.dot(q, tl.trans(k)) * (scale * LOG2E)  # (BLOCK_Q, BLOCK_K)
        m, l, o = update(s, v, m, l, o)
    for first_key in range(first_query, tl.minimum(first_query + BLOCK_Q, n), BLOCK_K):  # on the diagonal
        key = first_key + tl.arange(0, BLOCK_K)
        place = key[:, None] * d + column[None, :]
        k_inside = (key < n)[:, None] & (column < d)[None, :]
        k = tl.load(k_ptr + place, mask=k_inside, other=0.0)
        v = tl.load(v_ptr + place, mask=k_inside, other=0.0)
        s = tl.dot(q, tl.trans(k)) * (scale * LOG2E)
        s = tl.where(key[None, :] <= query[:, None], s, float("-inf"))
        m, l, o = update(s, v, m, l, o)

    o = o * (1.0 / l)[:, None]
    tl.store(o_ptr + query[:, None] * d + column[None, :], o.to(tl.float16), mask=inside)
    tl.store(lse_ptr + head * n + query, (m + tl.log2(l)) * LN2, mask=query < n)
