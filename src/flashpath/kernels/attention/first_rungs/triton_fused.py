"""Attention, fused: one kernel, and no score in memory. The scores are computed twice instead.

maths    for a tile of queries: m = max s over all keys; then, with s = scale q kᵀ once more, l = Σ e^(s - m),
         o = Σ e^(s - m) v; out = o / l, lse = m + log l
layout   as in problem.py; a tile of queries per program, tiles of keys one after the other
cost     6 · queries · keys · dim FLOPs for each head in place of 4: q kᵀ is there twice. k is read twice and
         v once for each tile of queries, from the L2 where they fit; of memory, each tensor once
improves unfused: 12 bytes of traffic for each score are gone, and the memory for scores: it is O(N) now.
idea     Σ e^(s - m) v can be summed tile by tile, once m is known: nothing else of a row is needed at once.
         So a first pass over the keys finds m and forgets the scores. To compute a score again takes dim
         multiplications of tensor cores; to keep it takes bytes. (Kept on chip, 16 rows of scores in float32
         fill an SM at 3632 keys, and longer sequences could not be had.)
         What is left to save is the first pass, made for one number of each query: see online_softmax.
"""

import triton
import triton.language as tl

from flashpath.kernels.attention.device.triton_tiles import (
    LN2,
    NEVER,
    finite_or_zero,
    keys_seen,
    load_rows,
    of_head,
    scores_of,
    store_rows,
)


@triton.jit(do_not_specialize=["scale", "heads", "group", "queries", "keys"])
def fused_kernel(
    q_ptr,
    k_ptr,
    v_ptr,
    out_ptr,
    lse_ptr,
    q_strides,  # of batch, row and head, as those of k, v and out
    k_strides,
    v_strides,
    out_strides,
    scale,  # times log2 e: weights are powers of 2
    heads,
    group,
    queries,
    keys,
    CAUSAL: tl.constexpr,
    DIM: tl.constexpr,
    V_DIM: tl.constexpr,
    BLOCK_QUERIES: tl.constexpr,
    BLOCK_KEYS: tl.constexpr,
    BLOCK_DIM: tl.constexpr,
    BLOCK_V_DIM: tl.constexpr,
):
    place = tl.program_id(0).to(tl.int64)
    batch, head = place // heads, place % heads
    first = tl.program_id(1) * BLOCK_QUERIES
    query = first + tl.arange(0, BLOCK_QUERIES)
    k_ptr = of_head(k_ptr, batch, head // group, k_strides)
    v_ptr = of_head(v_ptr, batch, head // group, v_strides)
    q = load_rows(of_head(q_ptr, batch, head, q_strides), query, q_strides[1], queries, DIM, BLOCK_DIM)
    seen = keys_seen(min(first + BLOCK_QUERIES, queries) - 1, queries, keys, CAUSAL)

    m = tl.full((BLOCK_QUERIES,), NEVER, tl.float32)
    for start in range(0, seen, BLOCK_KEYS):
        key = start + tl.arange(0, BLOCK_KEYS)
        k = load_rows(k_ptr, key, k_strides[1], keys, DIM, BLOCK_DIM)
        s = scores_of(q, k, scale, query, key, queries, keys, CAUSAL)  # (BLOCK_QUERIES, BLOCK_KEYS)
        m = tl.maximum(m, tl.max(s, 1))
    m = finite_or_zero(m)

    total = tl.zeros((BLOCK_QUERIES,), tl.float32)
    o = tl.zeros((BLOCK_QUERIES, BLOCK_V_DIM), tl.float32)
    for start in range(0, seen, BLOCK_KEYS):
        key = start + tl.arange(0, BLOCK_KEYS)
        k = load_rows(k_ptr, key, k_strides[1], keys, DIM, BLOCK_DIM)
        v = load_rows(v_ptr, key, v_strides[1], keys, V_DIM, BLOCK_V_DIM)
        p = tl.exp2(scores_of(q, k, scale, query, key, queries, keys, CAUSAL) - m[:, None])
        total += tl.sum(p, 1)
        o = tl.dot(p.to(v.dtype), v, o)

    divisor = tl.where(total == 0, 1.0, total)
    lse = tl.where(total == 0, NEVER, (m + tl.log2(divisor)) * LN2)
    tl.store(lse_ptr + place * queries + query, lse, mask=query < queries)
    out_ptr = of_head(out_ptr, batch, head, out_strides)
    store_rows(out_ptr, o / divisor[:, None], query, out_strides[1], queries, V_DIM, BLOCK_V_DIM)
