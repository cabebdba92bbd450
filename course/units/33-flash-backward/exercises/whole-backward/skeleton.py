"""The whole backward pass in one launch, with the same bits every time. Causal: query i sees the keys j <= i + keys - queries.

The first ceil(keys / 32) programs of a head own 32 keys each, and write their dk and dv; the others own 32 queries each, and
write their dq. q, dout: (heads, queries, d), k, v: (heads, keys, d), fp16; lse, delta: (heads, queries), float32, lse a
natural logarithm, -inf of a query that saw nothing, which has no weights. dq, dk, dv: as q, k, v, float32. d <= BLOCK_D.
"""

import triton
import triton.language as tl


@triton.jit
def gradient_of_scores(q, k, v, dout, lse, delta, query, key, shift, scale):
    """The weights of a pair of tiles and the gradient of their scaled scores: p, ds, (BLOCK_Q, BLOCK_K), fp16."""
    s = tl.dot(q, tl.trans(k)) * scale
    # TODO: the weights, 0 of hidden pairs and of queries that saw nothing; ds
    return s.to(tl.float16), s.to(tl.float16)


@triton.jit
def load_rows(x_ptr, row, rows, d, BLOCK_D: tl.constexpr):
    """The rows of a head of q, k, v or dout, 0 where there is nothing: (rows of the tile, BLOCK_D)."""
    column = tl.arange(0, BLOCK_D)
    inside = (row < rows)[:, None] & (column < d)[None, :]
    return tl.load(x_ptr + row[:, None] * d + column[None, :], mask=inside, other=0.0)


@triton.jit
def store_rows(x_ptr, x, row, rows, d, BLOCK_D: tl.constexpr):
    column = tl.arange(0, BLOCK_D)
    inside = (row < rows)[:, None] & (column < d)[None, :]
    tl.store(x_ptr + row[:, None] * d + column[None, :], x, mask=inside)


@triton.jit
def backward_kernel(
    q_ptr,
    k_ptr,
    v_ptr,
    dout_ptr,
    lse_ptr,
    delta_ptr,
    dq_ptr,
    dk_ptr,
    dv_ptr,
    queries,
    keys,
    d,
    scale,
    BLOCK_Q: tl.constexpr,
    BLOCK_K: tl.constexpr,
    BLOCK_D: tl.constexpr,
):
    head = tl.program_id(1)
    q_ptr, dout_ptr, dq_ptr = (
        q_ptr + head * queries * d,
        dout_ptr + head * queries * d,
        dq_ptr + head * queries * d,
    )
    k_ptr, v_ptr = k_ptr + head * keys * d, v_ptr + head * keys * d
    dk_ptr, dv_ptr = dk_ptr + head * keys * d, dv_ptr + head * keys * d
    lse_ptr, delta_ptr = lse_ptr + head * queries, delta_ptr + head * queries
    shift = keys - queries
    key_tiles = tl.cdiv(keys, BLOCK_K)
    if tl.program_id(0) < key_tiles:
        first_key = tl.program_id(0) * BLOCK_K
        key = first_key + tl.arange(0, BLOCK_K)
        k = load_rows(k_ptr, key, keys, d, BLOCK_D)
        v = load_rows(v_ptr, key, keys, d, BLOCK_D)
        dk = tl.zeros((BLOCK_K, BLOCK_D), tl.float32)
        dv = tl.zeros((BLOCK_K, BLOCK_D), tl.float32)
        # TODO: the tiles of queries that see one of these keys
        store_rows(dk_ptr, dk, key, keys, d, BLOCK_D)
        store_rows(dv_ptr, dv, key, keys, d, BLOCK_D)
    else:
        first_query = (tl.program_id(0) - key_tiles) * BLOCK_Q
        query = first_query + tl.arange(0, BLOCK_Q)
        q = load_rows(q_ptr, query, queries, d, BLOCK_D)
        dout = load_rows(dout_ptr, query, queries, d, BLOCK_D)
        lse = tl.load(lse_ptr + query, mask=query < queries, other=0.0)
        delta = tl.load(delta_ptr + query, mask=query < queries, other=0.0)
        dq = tl.zeros((BLOCK_Q, BLOCK_D), tl.float32)
        # TODO: the tiles of keys that one of these queries sees
        store_rows(dq_ptr, dq, query, queries, d, BLOCK_D)
