"""Attention, unfused: three Triton kernels, one for each step of the formula.

maths    s = scale q kᵀ, -inf where hidden; p = e^(s - m) / l with m = max s and l = Σ e^(s - m) of each row,
         lse = m + log l; out = p v
layout   q, k, v, out: as in problem.py. s in float32, so that lse is as good as one, and p in the type of q:
         (batch, heads, queries, pitch), pitch the number of keys rounded up to 16. What is beyond the keys is
         -inf, and 0 in p: then no mask ends within 16 elements, and accesses of 16 bytes stay whole
cost     4 · queries · keys · dim FLOPs for each head. s and p are written and read: 12 bytes of traffic for
         each score, at least, and memory of 6 bytes. That grows with the square of the length, all other
         traffic with the length. (Softmax reads s three times; short rows are in the L1 by then.)
improves naive: scale and mask cost no pass of their own and no copy of s
idea     a kernel for each line of the formula. Products are those of the ladder `matmul`. What is between
         them lives in memory, and every byte of it is traffic that the formula does not ask for.
"""

import triton
import triton.language as tl

from flashpath.kernels.attention.device.triton_tiles import (
    NEVER,
    finite_or_zero,
    keys_seen,
    load_rows,
    of_head,
    scores_of,
    store_rows,
)

LOG2E = tl.constexpr(1.4426950408889634)


@triton.jit(do_not_specialize=["scale", "heads", "group", "queries", "keys"])
def scores_kernel(
    q_ptr,
    k_ptr,
    s_ptr,
    q_strides,  # of batch, row and head, as k's
    k_strides,
    pitch,
    scale,
    heads,
    group,
    queries,
    keys,
    CAUSAL: tl.constexpr,
    DIM: tl.constexpr,
    BLOCK_QUERIES: tl.constexpr,
    BLOCK_KEYS: tl.constexpr,
    BLOCK_DIM: tl.constexpr,
):
    """A tile of s for each program of (batch · heads, tiles of queries, tiles of keys)."""
    place = tl.program_id(0).to(tl.int64)
    batch, head = place // heads, place % heads
    query = tl.program_id(1) * BLOCK_QUERIES + tl.arange(0, BLOCK_QUERIES)
    key = tl.program_id(2) * BLOCK_KEYS + tl.arange(0, BLOCK_KEYS)
    q = load_rows(of_head(q_ptr, batch, head, q_strides), query, q_strides[1], queries, DIM, BLOCK_DIM)
    k = load_rows(of_head(k_ptr, batch, head // group, k_strides), key, k_strides[1], keys, DIM, BLOCK_DIM)
    s = scores_of(q, k, scale, query, key, queries, keys, CAUSAL)  # (BLOCK_QUERIES, BLOCK_KEYS)
    row = place * queries + query  # 64 bits: there are more scores than 2^31
    inside = (query < queries)[:, None] & (key < pitch)[None, :]
    tl.store(s_ptr + row[:, None] * pitch + key[None, :], s, mask=inside)


@triton.jit
def softmax_kernel(s_ptr, p_ptr, lse_ptr, pitch, BLOCK: tl.constexpr):
    """A row for each program: its maximum, its sum, then its quotients."""
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, BLOCK)  # (BLOCK)
    s_ptr += row * pitch
    p_ptr += row * pitch
    largest = tl.full((BLOCK,), NEVER, tl.float32)
    for start in range(0, pitch, BLOCK):
        s = tl.load(s_ptr + start + column, mask=column < pitch - start, other=NEVER)
        largest = tl.maximum(largest, s)
    m = finite_or_zero(tl.max(largest, 0))
    sums = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, pitch, BLOCK):
        s = tl.load(s_ptr + start + column, mask=column < pitch - start, other=NEVER)
        sums += tl.exp2((s - m) * LOG2E)
    total = tl.sum(sums, 0)  # 0 where nothing is seen; else at least 1, the largest score's
    divisor = tl.where(total == 0, 1.0, total)
    for start in range(0, pitch, BLOCK):
        s = tl.load(s_ptr + start + column, mask=column < pitch - start, other=NEVER)
        p = tl.exp2((s - m) * LOG2E) / divisor
        tl.store(p_ptr + start + column, p.to(p_ptr.dtype.element_ty), mask=column < pitch - start)
    tl.store(lse_ptr + row, tl.where(total == 0, NEVER, m + tl.log(divisor)))


@triton.jit(do_not_specialize=["heads", "group", "queries", "keys"])
def values_kernel(
    p_ptr,
    v_ptr,
    out_ptr,
    pitch,
    v_strides,
    out_strides,
    heads,
    group,
    queries,
    keys,
    CAUSAL: tl.constexpr,
    DIM: tl.constexpr,
    BLOCK_QUERIES: tl.constexpr,
    BLOCK_KEYS: tl.constexpr,
    BLOCK_DIM: tl.constexpr,
):
    """A tile of out for each program of (batch · heads, tiles of queries)."""
    place = tl.program_id(0).to(tl.int64)
    batch, head = place // heads, place % heads
    first = tl.program_id(1) * BLOCK_QUERIES
    query = first + tl.arange(0, BLOCK_QUERIES)
    p_ptr += (place * queries + query)[:, None] * pitch  # (BLOCK_QUERIES, 1)
    v_ptr = of_head(v_ptr, batch, head // group, v_strides)
    out = tl.zeros((BLOCK_QUERIES, BLOCK_DIM), tl.float32)
    last = min(first + BLOCK_QUERIES, queries) - 1
    for start in range(0, keys_seen(last, queries, keys, CAUSAL), BLOCK_KEYS):
        key = start + tl.arange(0, BLOCK_KEYS)
        inside = (query < queries)[:, None] & (key < pitch)[None, :]
        p = tl.load(p_ptr + key[None, :], mask=inside, other=0.0)
        v = load_rows(v_ptr, key, v_strides[1], keys, DIM, BLOCK_DIM)
        out = tl.dot(p, v, out)
    store_rows(
        of_head(out_ptr, batch, head, out_strides), out, query, out_strides[1], queries, DIM, BLOCK_DIM
    )
