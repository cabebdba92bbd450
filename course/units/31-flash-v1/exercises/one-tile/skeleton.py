"""Every tile of queries against every tile of keys: m̃, l̃ and P̃ V of algorithm 1, lines 9 and 10.

Program (i, j) has the queries from 16 i on and the keys from 32 j on. q: (queries, d), k, v: (keys, d), fp16; d <= BLOCK_D.
m, l: (tiles of keys, queries) and o: (tiles of keys, queries, d), float32; tile j writes to m[j], l[j], o[j].
"""

import triton
import triton.language as tl


@triton.jit
def tile_kernel(
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
    j = tl.program_id(1)
    query = tl.program_id(0) * BLOCK_Q + tl.arange(0, BLOCK_Q)  # (BLOCK_Q)
    key = j * BLOCK_K + tl.arange(0, BLOCK_K)  # (BLOCK_K)
    column = tl.arange(0, BLOCK_D)  # (BLOCK_D)
    q_inside = (query < queries)[:, None] & (column < d)[None, :]
    k_inside = (key < keys)[:, None] & (column < d)[None, :]
    q = tl.load(q_ptr + query[:, None] * d + column[None, :], mask=q_inside, other=0.0)
    k = tl.load(k_ptr + key[:, None] * d + column[None, :], mask=k_inside, other=0.0)
    v = tl.load(v_ptr + key[:, None] * d + column[None, :], mask=k_inside, other=0.0)

    s = tl.zeros((BLOCK_Q, BLOCK_K), tl.float32)  # TODO: the scaled scores; -inf where there is no key
    m = tl.max(s, 1)  # (BLOCK_Q)
    l = tl.sum(s, 1)  # TODO: the weights of the tile and their sum
    o = tl.dot(s.to(tl.float16), v)  # (BLOCK_Q, BLOCK_D), TODO: of the weights

    tl.store(m_ptr + j * queries + query, m, mask=query < queries)
    tl.store(l_ptr + j * queries + query, l, mask=query < queries)
    tl.store(o_ptr + (j * queries + query)[:, None] * d + column[None, :], o, mask=q_inside)
