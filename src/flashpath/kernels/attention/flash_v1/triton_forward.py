"""Attention: FlashAttention 1 in Triton. Tiles of keys and values outside, tiles of queries inside.

maths    of a tile of keys and a tile of queries: m~ = max s, p~ = e^(s - m~), l~ = Σ p~. With what earlier
         tiles left:
           m' = max(m, m~),  l' = l e^(m - m') + l~ e^(m~ - m'),
           o' = (l e^(m - m') o + e^(m~ - m') p~ v) / l'; in the end out = o, lse = m + log l
layout   q, k, v, out: as in problem.py. o: (batch, heads, queries, v_dim), m and l: (batch, heads, queries),
         float32, in global memory: they are what one step of the outer loop leaves for the next
cost     4 · queries · keys · dim FLOPs for each head. k and v are read once for each head; q, o, m and l are
         read, and o, m and l written, for each tile of keys: 8 · v_dim + 16 bytes for each query, where
         FlashAttention 2 writes 2 · v_dim + 4 once
improves fused: each score is computed once. Its price is o, which travels for every tile of keys
idea     one program per head, as the first paper has it: a tile of k and v stays on chip, and all queries
         come by. Between two tiles of keys a query waits in memory as {m, l, o}.
watch    memory is how the threads of a program tell each other o, m and l, and Triton orders no accesses to
         it: barriers do. With the loop's loads ahead of its stores (num_stages > 1) it would read old values.
"""

import triton
import triton.language as tl

from flashpath.kernels.attention.device.triton_tiles import (
    LN2,
    NEVER,
    finite_or_zero,
    load_rows,
    of_head,
    scores_of,
    store_rows,
)


@triton.jit(do_not_specialize=["scale", "heads", "group", "queries", "keys"])
def flash_v1_kernel(
    q_ptr,
    k_ptr,
    v_ptr,
    out_ptr,
    lse_ptr,
    o_ptr,
    m_ptr,
    l_ptr,
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
    q_ptr = of_head(q_ptr, batch, head, q_strides)
    k_ptr = of_head(k_ptr, batch, head // group, k_strides)
    v_ptr = of_head(v_ptr, batch, head // group, v_strides)
    out_ptr = of_head(out_ptr, batch, head, out_strides)
    lse_ptr, m_ptr, l_ptr = lse_ptr + place * queries, m_ptr + place * queries, l_ptr + place * queries
    o_ptr += place * queries * V_DIM

    for first_query in range(0, queries, BLOCK_QUERIES):
        query = first_query + tl.arange(0, BLOCK_QUERIES)
        nothing = tl.zeros((BLOCK_QUERIES,), tl.float32)
        tl.store(m_ptr + query, nothing + NEVER, mask=query < queries)
        tl.store(l_ptr + query, nothing, mask=query < queries)
        o = tl.zeros((BLOCK_QUERIES, BLOCK_V_DIM), tl.float32)
        store_rows(o_ptr, o, query, V_DIM, queries, V_DIM, BLOCK_V_DIM)

    for first_key in range(0, keys, BLOCK_KEYS):
        tl.debug_barrier()  # what the last step wrote is there for all threads
        key = first_key + tl.arange(0, BLOCK_KEYS)
        k = load_rows(k_ptr, key, k_strides[1], keys, DIM, BLOCK_DIM)
        v = load_rows(v_ptr, key, v_strides[1], keys, V_DIM, BLOCK_V_DIM)
        earliest = 0
        if CAUSAL:  # queries before this one see no key of the tile
            earliest = max(0, first_key - (keys - queries)) // BLOCK_QUERIES * BLOCK_QUERIES
        for first_query in range(earliest, queries, BLOCK_QUERIES):
            query = first_query + tl.arange(0, BLOCK_QUERIES)
            q = load_rows(q_ptr, query, q_strides[1], queries, DIM, BLOCK_DIM)
            o = load_rows(o_ptr, query, V_DIM, queries, V_DIM, BLOCK_V_DIM)  # (BLOCK_QUERIES, BLOCK_V_DIM)
            m = tl.load(m_ptr + query, mask=query < queries, other=NEVER)  # (BLOCK_QUERIES)
            total = tl.load(l_ptr + query, mask=query < queries, other=0.0)

            s = scores_of(q, k, scale, query, key, queries, keys, CAUSAL)  # (BLOCK_QUERIES, BLOCK_KEYS)
            m_tile = tl.max(s, 1)
            p = tl.exp2(s - finite_or_zero(m_tile)[:, None])
            m_new = tl.maximum(m, m_tile)
            shift = finite_or_zero(m_new)
            of_before = total * tl.exp2(m - shift)
            of_tile = tl.exp2(m_tile - shift)
            total = of_before + of_tile * tl.sum(p, 1)
            divisor = tl.where(total == 0, 1.0, total)
            pv = tl.dot(p.to(v.dtype), v)  # (BLOCK_QUERIES, BLOCK_V_DIM)
            o = (o * of_before[:, None] + pv * of_tile[:, None]) / divisor[:, None]

            tl.debug_barrier()  # all threads have read m, l and o of these queries
            tl.store(m_ptr + query, m_new, mask=query < queries)
            tl.store(l_ptr + query, total, mask=query < queries)
            store_rows(o_ptr, o, query, V_DIM, queries, V_DIM, BLOCK_V_DIM)

    tl.debug_barrier()
    for first_query in range(0, queries, BLOCK_QUERIES):
        query = first_query + tl.arange(0, BLOCK_QUERIES)
        o = load_rows(o_ptr, query, V_DIM, queries, V_DIM, BLOCK_V_DIM)
        store_rows(out_ptr, o, query, out_strides[1], queries, V_DIM, BLOCK_V_DIM)
        m = tl.load(m_ptr + query, mask=query < queries, other=NEVER)
        total = tl.load(l_ptr + query, mask=query < queries, other=0.0)
        tl.store(lse_ptr + query, (m + tl.log2(total)) * LN2, mask=query < queries)
