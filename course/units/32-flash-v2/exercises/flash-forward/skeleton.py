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
    first_query = tl.program_id(0) * BLOCK_Q  # TODO: those with the most keys start first
    query = first_query + tl.arange(0, BLOCK_Q)
    # TODO: which head of k and v is this program's, and how far apart are its rows?
    q = load_rows(q_ptr + head * d, query, queries, heads * d, d, BLOCK_D)

    # TODO: the state; how far a query sees; blocks of keys without a mask, with one, and left out; the end.
    o = tl.zeros((BLOCK_Q, BLOCK_D), tl.float32)
    lse = tl.zeros((BLOCK_Q,), tl.float32)

    column = tl.arange(0, BLOCK_D)
    place = query[:, None] * (heads * d) + head * d + column[None, :]
    tl.store(o_ptr + place, o.to(o_ptr.dtype.element_ty), mask=(query < queries)[:, None] & (column < d)[None, :])
    tl.store(lse_ptr + head * queries + query, lse, mask=query < queries)


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
