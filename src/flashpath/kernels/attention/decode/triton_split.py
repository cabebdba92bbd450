"""Flash decoding in Triton: the keys of a sequence are split over programs, whose parts are combined after.

maths    for each split: m, l and acc of its keys, as FlashAttention 2 has them; acc / l and m + log l are
         written, and triton_combine.py puts them together. With one split they are the result
layout   q: (batch, queries, heads, dim); the cache dense or in pages. A program has all rows of one head of k
         and v: the queries of the heads that share it, padded to 16 rows, which is what an mma takes
cost     2 · pairs · (dim + v_dim) FLOPs; every key and value once
improves flash_v2: there a program has a tile of queries and walks over all keys. One query for each of 64
         sequences and 8 heads would be 512 such programs; one sequence would be 8, on 132 SMs
idea     decoding reads the cache once and does next to nothing with it: what counts is that all SMs read. The
         queries of a group read each key together, once, and keys are split until there are enough programs.
"""

import triton
import triton.language as tl

from flashpath.kernels.attention.device.triton_scores import (
    LN2,
    LOG2E,
    exponent_scale,
    final,
    limited,
    visible,
)

MINUS_INF = tl.constexpr(float("-inf"))


@triton.jit(do_not_specialize=["table_width", "queries", "new", "left", "right", "splits"])
def split_kernel(
    q_ptr,
    k_ptr,
    v_ptr,
    out_ptr,  # the result, or (splits, batch, heads, queries, v_dim) in float32
    lse_ptr,  # (splits, batch, heads, queries)
    lengths_ptr,
    left_pad_ptr,
    page_table_ptr,
    batch_index_ptr,
    slopes_ptr,
    sinks_ptr,
    q_strides,  # (batch, row, head)
    k_strides,  # (page or batch, row, head)
    v_strides,
    out_strides,  # (split, batch, row, head)
    lse_strides,  # (split, batch, head)
    slope_strides,  # (batch, head)
    table_stride,
    table_width,
    queries,
    new,
    group,
    dim,
    v_dim,
    scale,
    softcap,
    left,
    right,
    splits,
    FEATURES: tl.constexpr,
    MOD: tl.constexpr,
    PAGE_SIZE: tl.constexpr,  # of a paged cache: a shift in place of a division, where it is a power of two
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_D: tl.constexpr,
    BLOCK_V: tl.constexpr,
    OVERLAPS: tl.constexpr,  # the combining kernel may begin before this one ends
):
    split, kv_head, batch = tl.program_id(0) % splits, tl.program_id(1), tl.program_id(2)
    tile = tl.program_id(0) // splits
    first = 0
    if left_pad_ptr is not None:
        first = tl.load(left_pad_ptr + batch)
    keys = tl.load(lengths_ptr + batch) + new - first
    shift = keys - queries

    # Keys that some query sees, in whole tiles. Tile i goes to split i % splits: without a window a program
    # knows its first pages before it knows how many keys there are.
    begin, end = 0, keys
    first_row, last_row = tile * BLOCK_M // group, min(queries - 1, (tile * BLOCK_M + BLOCK_M - 1) // group)
    if FEATURES.right:
        end = max(0, min(keys, last_row + shift + right + 1))
    if FEATURES.left:
        begin = max(0, first_row + shift - left) // BLOCK_N * BLOCK_N
    begin += split * BLOCK_N
    apart = splits * BLOCK_N

    batch_64 = batch.to(tl.int64)
    page = batch_64
    if batch_index_ptr is not None:
        page = tl.load(batch_index_ptr + batch).to(tl.int64)
    if page_table_ptr is not None:
        page_table_ptr += batch_64 * table_stride
        key = begin + tl.arange(0, BLOCK_N)
        # Past the last page it is any, but the table is not left.
        pages = tl.load(page_table_ptr + tl.minimum((key + first) // PAGE_SIZE, table_width - 1))  # (BLOCK_N)

    # A row is a query of a head: the heads of a group are neighbours.
    number = tile * BLOCK_M + tl.arange(0, BLOCK_M)  # (BLOCK_M)
    row, head = number // group, kv_head * group + number % group
    inside = row < queries
    column, v_column = tl.arange(0, BLOCK_D), tl.arange(0, BLOCK_V)
    q = tl.load(
        q_ptr
        + batch_64 * q_strides[0]
        + row[:, None] * q_strides[1]
        + head[:, None] * q_strides[2]
        + column[None, :],
        mask=inside[:, None] & (column < dim)[None, :],
        other=0.0,
    )  # (BLOCK_M, BLOCK_D)
    slope = 0.0
    if FEATURES.alibi:
        at_slope = batch * slope_strides[0] + head * slope_strides[1]
        slope = tl.load(slopes_ptr + at_slope, mask=inside, other=0.0)[:, None]

    k_ptr += kv_head.to(tl.int64) * k_strides[2]
    v_ptr += kv_head.to(tl.int64) * v_strides[2]
    to_exponent = exponent_scale(scale, FEATURES)
    query = row[:, None]

    m = tl.full((BLOCK_M,), MINUS_INF, tl.float32)
    total = tl.zeros((BLOCK_M,), tl.float32)
    acc = tl.zeros((BLOCK_M, BLOCK_V), tl.float32)
    for start in range(begin, end, apart):
        key = start + tl.arange(0, BLOCK_N)  # (BLOCK_N)
        there = key < end
        place = key + first
        if page_table_ptr is not None:
            k_row = pages.to(tl.int64) * k_strides[0] + (place % PAGE_SIZE).to(tl.int64) * k_strides[1]
            v_row = pages.to(tl.int64) * v_strides[0] + (place % PAGE_SIZE).to(tl.int64) * v_strides[1]
            # Those of the next tile, before this one's keys: they are there when its addresses are wanted.
            pages = tl.load(page_table_ptr + tl.minimum((place + apart) // PAGE_SIZE, table_width - 1))
        else:
            k_row = page * k_strides[0] + place.to(tl.int64) * k_strides[1]
            v_row = page * v_strides[0] + place.to(tl.int64) * v_strides[1]
        k = tl.load(
            k_ptr + k_row[None, :] + column[:, None], mask=there[None, :] & (column < dim)[:, None], other=0.0
        )  # (BLOCK_D, BLOCK_N)
        s = tl.dot(q, k)  # (BLOCK_M, BLOCK_N)
        v = tl.load(
            v_ptr + v_row[:, None] + v_column[None, :],
            mask=there[:, None] & (v_column < v_dim)[None, :],
            other=0.0,
        )  # (BLOCK_N, BLOCK_V)
        s = limited(s, scale, softcap, slope, query, key[None, :], shift, FEATURES)
        s = final(s, batch, head[:, None], query, key[None, :], MOD)
        seen = visible(query, key[None, :], end, shift, left, right, FEATURES)
        s = tl.where(seen, s, MINUS_INF)
        larger = tl.maximum(m, tl.max(s, 1) * to_exponent)
        base = tl.where(larger == MINUS_INF, 0.0, larger)  # nothing seen yet: all weights are 0
        p = tl.exp2(s * to_exponent - base[:, None])
        shrink = tl.exp2(m - base)
        total = total * shrink + tl.sum(p, 1)
        acc = tl.dot(p.to(v.dtype), v, acc * shrink[:, None])
        m = larger

    if OVERLAPS:
        tl.extra.cuda.gdc_launch_dependents()
    if FEATURES.sinks:  # with one split only: the combining kernel has them else
        sink = tl.load(sinks_ptr + head, mask=inside, other=0.0) * LOG2E
        larger = tl.maximum(m, sink)
        shrink = tl.exp2(m - larger)
        total = total * shrink + tl.exp2(sink - larger)
        acc = acc * shrink[:, None]
        m = larger
    at_lse = split.to(tl.int64) * lse_strides[0] + batch_64 * lse_strides[1]
    tl.store(lse_ptr + at_lse + head * lse_strides[2] + row, (m + tl.log2(total)) * LN2, mask=inside)
    out_ptr += split.to(tl.int64) * out_strides[0] + batch_64 * out_strides[1]
    tl.store(
        out_ptr + row[:, None] * out_strides[2] + head[:, None] * out_strides[3] + v_column[None, :],
        (acc / tl.where(total == 0, 1.0, total)[:, None]).to(out_ptr.dtype.element_ty),
        mask=inside[:, None] & (v_column < v_dim)[None, :],
    )
