"""FlashAttention 2, the forward pass: grouped heads, a causal mask or none, any lengths.

A program for each 32 queries of a head. q, o: (queries, heads, d), k, v: (keys, heads // group, d), fp16: the heads of a token
side by side. lse: (heads, queries), float32, natural logarithms. Heads 0 to group - 1 share the first head of k and v, and
so on. CAUSAL: query i sees the keys j <= i + keys - queries. A query that sees nothing has o = 0, lse = -inf. d <= BLOCK_D.
"""

import triton
import triton.language as tl

LOG2E = tl.constexpr(1.4426950408889634)
LN2 = tl.constexpr(0.6931471805599453)


@triton.jit
def load_rows(x_ptr, row, rows, stride, d, BLOCK_D: tl.constexpr):
    """Rows of a head, 0 where there is nothing: (rows of the tile, BLOCK_D)."""
    column = tl.arange(0, BLOCK_D)
    inside = (row < rows)[:, None] & (column < d)[None, :]
    return tl.load(x_ptr + row[:, None] * stride + column[None, :], mask=inside, other=0.0)


@triton.jit
def attend(
    state,
    q,
    k_ptr,
    v_ptr,
    first,
    last,
    query,
    keys,
    shift,
    stride,
    d,
    exponent,
    CAUSAL: tl.constexpr,
    MASKED: tl.constexpr,
    BLOCK_K: tl.constexpr,
    BLOCK_D: tl.constexpr,
):
    """The tiles of keys from `first` to `last`."""
    m, l, o = state
    for first_key in range(first, last, BLOCK_K):
        key = first_key + tl.arange(0, BLOCK_K)
        k = load_rows(k_ptr, key, keys, stride, d, BLOCK_D)
        v = load_rows(v_ptr, key, keys, stride, d, BLOCK_D)
        s = tl.dot(q, tl.trans(k)) * exponent
        if MASKED:
            seen = (key < keys)[None, :]
            if CAUSAL:
                seen = seen & (key[None, :] <= query[:, None] + shift)
            s = tl.where(seen, s, float("-inf"))
        m_new = tl.maximum(m, tl.max(s, 1))
        base = m_new
        if MASKED:
            base = tl.where(m_new == float("-inf"), 0.0, m_new)  # nothing seen yet
        alpha = tl.exp2(m - base)
        p = tl.exp2(s - base[:, None])
        l = l * alpha + tl.sum(p, 1)
        o = o * alpha[:, None] + tl.dot(p.to(tl.float16), v)
        m = m_new
    return m, l, o


@triton.jit
def flash_kernel(
    q_ptr,
    k_ptr,
    v_ptr,
    o_ptr,
    lse_ptr,
    queries,
    keys,
    heads,
    group,
    d,
    scale,
    CAUSAL: tl.constexpr,
    BLOCK_Q: tl.constexpr,
    BLOCK_K: tl.constexpr,
    BLOCK_D: tl.constexpr,
):
    head = tl.program_id(1)
    block = tl.program_id(0)
    if CAUSAL:
        block = tl.num_programs(0) - 1 - block  # those with the most keys start first
    first_query = block * BLOCK_Q
    query = first_query + tl.arange(0, BLOCK_Q)
    kv_stride = heads // group * d
    k_ptr, v_ptr = k_ptr + head // group * d, v_ptr + head // group * d
    q = load_rows(q_ptr + head * d, query, queries, heads * d, d, BLOCK_D)

    m = tl.full((BLOCK_Q,), float("-inf"), tl.float32)
    l = tl.zeros((BLOCK_Q,), tl.float32)
    o = tl.zeros((BLOCK_Q, BLOCK_D), tl.float32)
    shift = keys - queries
    end = keys
    whole = keys  # keys before it are seen by all queries of the program
    if CAUSAL:
        end = tl.minimum(keys, tl.maximum(first_query + BLOCK_Q + shift, 0))
        whole = tl.minimum(keys, tl.maximum(first_query + shift + 1, 0))
    whole = whole // BLOCK_K * BLOCK_K
    exponent = scale * LOG2E
    state = (m, l, o)
    state = attend(
        state, q, k_ptr, v_ptr, 0, whole, query, keys, shift, kv_stride, d, exponent, CAUSAL, False, BLOCK_K, BLOCK_D
    )
    state = attend(
        state, q, k_ptr, v_ptr, whole, end, query, keys, shift, kv_stride, d, exponent, CAUSAL, True, BLOCK_K, BLOCK_D
    )
    m, l, o = state

    o = o * (1.0 / tl.where(l == 0.0, 1.0, l))[:, None]
    column = tl.arange(0, BLOCK_D)
    place = query[:, None] * (heads * d) + head * d + column[None, :]
    tl.store(o_ptr + place, o.to(tl.float16), mask=(query < queries)[:, None] & (column < d)[None, :])
    tl.store(lse_ptr + head * queries + query, (m + tl.log2(l)) * LN2, mask=query < queries)
