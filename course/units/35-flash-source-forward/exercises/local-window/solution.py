"""Attention with a local window, from the last block of keys that is seen to the first.

A program has BLOCK_M queries. q: (queries, d), k, v: (keys, d), fp16; o: (queries, d), lse: (queries), float32. Query i stands
at key i + keys - queries and sees `left` keys before that one and `right` after it. d <= BLOCK_D.
"""

import triton
import triton.language as tl


@triton.jit
def local_attention(
    q_ptr,
    k_ptr,
    v_ptr,
    o_ptr,
    lse_ptr,
    queries,
    keys,
    d,
    left,
    right,
    scale,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_D: tl.constexpr,
):
    first_query = tl.program_id(0) * BLOCK_M
    query = first_query + tl.arange(0, BLOCK_M)  # (BLOCK_M)
    column = tl.arange(0, BLOCK_D)  # (BLOCK_D)
    inside = (query < queries)[:, None] & (column < d)[None, :]
    q = tl.load(q_ptr + query[:, None] * d + column[None, :], mask=inside, other=0.0)
    at = query + keys - queries  # the key where each query stands

    last_query = tl.minimum(first_query + BLOCK_M, queries) - 1
    first_key = tl.maximum(first_query + keys - queries - left, 0)
    end_key = tl.minimum(last_query + keys - queries + right + 1, keys)
    block_min = first_key // BLOCK_N
    block_max = tl.cdiv(tl.maximum(end_key, 0), BLOCK_N)

    m = tl.full((BLOCK_M,), float("-inf"), tl.float32)
    l = tl.zeros((BLOCK_M,), tl.float32)
    o = tl.zeros((BLOCK_M, BLOCK_D), tl.float32)
    for step in range(block_max - block_min):
        start = (block_max - 1 - step) * BLOCK_N
        key = start + tl.arange(0, BLOCK_N)  # (BLOCK_N)
        k_inside = (key < keys)[:, None] & (column < d)[None, :]
        k = tl.load(k_ptr + key[:, None] * d + column[None, :], mask=k_inside, other=0.0)
        v = tl.load(v_ptr + key[:, None] * d + column[None, :], mask=k_inside, other=0.0)
        s = tl.dot(q, tl.trans(k)) * scale  # (BLOCK_M, BLOCK_N)
        lowest = at - left
        highest = tl.minimum(at + right, keys - 1)
        sees = (key[None, :] >= lowest[:, None]) & (key[None, :] <= highest[:, None])
        s = tl.where(sees, s, float("-inf"))

        m_new = tl.maximum(m, tl.max(s, 1))
        base = tl.where(m_new == float("-inf"), 0.0, m_new)
        shrink = tl.exp(m - base)
        p = tl.exp(s - base[:, None])
        l = l * shrink + tl.sum(p, 1)
        o = o * shrink[:, None] + tl.dot(p.to(tl.float16), v)
        m = m_new

    o = o / tl.where(l == 0.0, 1.0, l)[:, None]
    tl.store(o_ptr + query[:, None] * d + column[None, :], o, mask=inside)
    tl.store(lse_ptr + query, m + tl.log(l), mask=query < queries)
