"""FlashAttention 2, the forward pass: grouped heads, a causal mask or none, any lengths.

A program for each 32 queries of a head. q, o: (queries, heads, d), k, v: (keys, heads // group, d), fp16: the heads of a token
side by side; d <= BLOCK_D. lse: (heads, queries), float32, natural logarithms. Heads 0 to group - 1 share the first head of k and v, and
so on. causal = 1: query i sees the keys j <= i + keys - queries; 0: all. A query that sees nothing: o = 0, lse = -inf.
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
    m,
    l,
    o,
    q,
    k_ptr,
    v_ptr,
    first,
    last,
    query,
    keys,
    reach,
    stride,
    d,
    exponent,
    MASKED: tl.constexpr,
    BLOCK_K: tl.constexpr,
    BLOCK_D: tl.constexpr,
):
    """The tiles of keys from `first` to `last`."""
    for first_key in range(first, last, BLOCK_K):
        key = first_key + tl.arange(0, BLOCK_K)
        k = load_rows(k_ptr, key, keys, stride, d, BLOCK_D)
        v = load_rows(v_ptr, key, keys, stride, d, BLOCK_D)
        s = tl.dot(q, tl.trans(k)) * exponent
        if MASKED:
            seen = (key < keys)[None, :] & (key[None, :] <= query[:, None] + reach)
            s = tl.where(seen, s, float("-inf"))
        m_new = tl.maximum(m, tl.max(s, 1))
        base = m_new
        if MASKED:
            base = tl.where(m_new == float("-inf"), 0.0, m_new)  # nothing seen yet
        alpha = tl.exp2(m - base)
        p = tl.exp2(s - base[:, None])
        l = l * alpha + tl.sum(p, 1)
        o = o * alpha[:, None] + tl.dot(p.to(v.dtype), v)
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
    causal,
    scale,
    BLOCK_Q: tl.constexpr,
    BLOCK_K: tl.constexpr,
    BLOCK_D: tl.constexpr,
):
    head = tl.program_id(1)
    first_query = (tl.num_programs(0) - 1 - tl.program_id(0)) * BLOCK_Q  # those with the most keys start first
    query = first_query + tl.arange(0, BLOCK_Q)
    kv_stride = heads // group * d
    k_ptr, v_ptr = k_ptr + head // group * d, v_ptr + head // group * d
    q = load_rows(q_ptr + head * d, query, queries, heads * d, d, BLOCK_D)

    m = tl.full((BLOCK_Q,), float("-inf"), tl.float32)
    l = tl.zeros((BLOCK_Q,), tl.float32)
    o = tl.zeros((BLOCK_Q, BLOCK_D), tl.float32)
    reach = keys  # query i sees the keys up to i + reach
    if causal:
        reach = keys - queries
    end = tl.minimum(keys, tl.maximum(first_query + BLOCK_Q + reach, 0))
    whole = tl.minimum(keys, tl.maximum(first_query + 1 + reach, 0)) // BLOCK_K * BLOCK_K  # no mask before it
    exponent = scale * LOG2E
    m, l, o = attend(
        m, l, o, q, k_ptr, v_ptr, 0, whole, query, keys, reach, kv_stride, d, exponent, False, BLOCK_K, BLOCK_D
    )
    m, l, o = attend(
        m, l, o, q, k_ptr, v_ptr, whole, end, query, keys, reach, kv_stride, d, exponent, True, BLOCK_K, BLOCK_D
    )

    o = o * (1.0 / tl.where(l == 0.0, 1.0, l))[:, None]
    column = tl.arange(0, BLOCK_D)
    place = query[:, None] * (heads * d) + head * d + column[None, :]
    tl.store(o_ptr + place, o.to(o_ptr.dtype.element_ty), mask=(query < queries)[:, None] & (column < d)[None, :])
    tl.store(lse_ptr + head * queries + query, (m + tl.log2(l)) * LN2, mask=query < queries)


def attention(q, k, v, options):
    """For `flashpath bench attention --with FILE:attention`: q: (batch, queries, heads, dim), k and v likewise."""
    out = q.new_empty(q.shape)
    batch, queries, heads, dim = q.shape
    keys, group = k.shape[1], heads // k.shape[2]
    lse = q.new_empty((batch, heads, queries)).float()
    blocks = {"BLOCK_Q": 64, "BLOCK_K": 64, "BLOCK_D": triton.next_power_of_2(dim)}
    grid = (triton.cdiv(queries, blocks["BLOCK_Q"]), heads)
    for b in range(batch):
        sizes = (queries, keys, heads, group, dim, int(options.causal), dim**-0.5)
        flash_kernel[grid](q[b], k[b], v[b], out[b], lse[b], *sizes, **blocks, num_warps=4)
    return out
