"""FlashAttention 2 backward in Triton, for a result of the same bits every time: dq by a kernel of its own.

maths    dq = scale Σ ds k over all tiles of keys, ds = p (dp - delta), p = 2^(s - lse), dp = do vᵀ
layout   as forward.py: a program has BLOCK_M queries of one head
cost     6 · pairs · dim FLOPs: s and dp once more than backward.py needs them
improves backward.py: its sums have one order. And on an H200, where products cost less than sums in memory,
         it is the faster one (docs/results/attention.md: flash_v2_triton_backward, beside …_adds)
idea     a program adds up its own dq in registers, key by key, and nobody else adds to it
"""

import triton
import triton.language as tl

from flashpath.kernels.attention.device.triton_scores import (
    derivative,
    exponent_scale,
    final,
    kept,
    limited,
    masked,
)
from flashpath.kernels.attention.flash_v2.triton.tiles import (
    addresses,
    filled_up,
    inside,
    keys_of,
    sequence,
)


@triton.jit
def _walk(
    dq,
    rows,  # (q, dout, exponent, delta) of the program's queries
    k_tiles,
    v_tiles,
    first,
    last,
    whole,
    place,  # (batch, head, query (BLOCK_M, 1), of a row of k: batch, head, first)
    size,  # (keys, keys - queries, heads)
    numbers,  # (scale, softcap, slope, left, right, seed, threshold, keep_scale)
    FEATURES: tl.constexpr,
    MOD: tl.constexpr,
    MOD_DERIVATIVE: tl.constexpr,
    MASK: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    """The tiles of keys from `first` to `last`."""
    q, dout, exponent, delta = rows
    batch, head, query, of_batch, k_head, k_row = place
    keys, shift, heads = size
    scale, softcap, slope, left, right, seed, threshold, keep_scale = numbers
    for start in range(first, last, BLOCK_N):
        key = start + tl.arange(0, BLOCK_N)[None, :]  # (1, BLOCK_N)
        k = k_tiles.load([of_batch, k_head, k_row + start, 0]).reshape(BLOCK_N, q.shape[1])
        v = v_tiles.load([of_batch, k_head, k_row + start, 0]).reshape(BLOCK_N, dout.shape[1])
        if MASK != "never" and FEATURES.varlen:  # not what the next sequence has there: 0 · NaN is no 0
            k = tl.where(keys > key.T, k, 0.0)
            v = tl.where(keys > key.T, v, 0.0)
        before = limited(tl.dot(q, k.T), scale, softcap, slope, query, key, shift, FEATURES)
        s = final(before, batch, head, query, key, MOD)  # (BLOCK_M, BLOCK_N)
        p = tl.exp2(s * exponent_scale(scale, FEATURES) - exponent[:, None])
        dp = tl.dot(dout, v.T)  # before the mask, as in backward.py
        p = masked(p, 0.0, query, key, keys, shift, left, right, start, whole, FEATURES, MASK)
        if FEATURES.dropout:
            stays = kept(seed, threshold, batch * heads + head, query, start, BLOCK_N)
            dp = tl.where(stays, dp * keep_scale, 0.0)
        ds = p * (dp - delta[:, None])
        if not FEATURES.folded:
            ds *= derivative(before, softcap, slope, batch, head, query, key, shift, FEATURES, MOD_DERIVATIVE)
        dq = tl.dot(ds.to(k.dtype), k, dq)
    return dq


@triton.jit(do_not_specialize=["queries", "keys", "left", "right", "threshold", "heads", "group"])
def backward_queries(
    q_ptr,
    dout_ptr,
    k_tiles,  # (batch, kv heads, keys, dim), in tiles of (1, 1, BLOCK_N, BLOCK_D)
    v_tiles,
    dq_ptr,
    exponent_ptr,
    delta_ptr,
    row_strides,  # (batch, head) of both
    q_strides,  # (batch, row, head)
    dout_strides,
    dq_strides,
    cu_q_ptr,
    cu_k_ptr,
    queries,
    keys,
    heads,
    group,
    dim,
    v_dim,
    scale,
    softcap,
    slopes_ptr,
    slope_strides,
    left,
    right,
    seed_ptr,
    threshold,
    keep_scale,
    FEATURES: tl.constexpr,
    MOD: tl.constexpr,
    MOD_DERIVATIVE: tl.constexpr,
    PREPARED: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_D: tl.constexpr,
    BLOCK_V: tl.constexpr,
):
    tiles = tl.cdiv(queries, BLOCK_M)
    tile = tl.program_id(0) % tiles
    head = tl.program_id(0) // tiles % heads
    batch = tl.program_id(0) // tiles // heads
    if FEATURES.right:
        tile = tiles - 1 - tile
    at = tile * BLOCK_M
    q_row, k_row, queries, keys, of_batch = sequence(
        batch, cu_q_ptr, cu_k_ptr, queries, keys, FEATURES.varlen
    )
    if FEATURES.varlen and at >= queries:
        return
    row = at + tl.arange(0, BLOCK_M)  # (BLOCK_M)
    in_q = inside(at, queries, dim, BLOCK_M, BLOCK_D)
    q = tl.load(addresses(q_ptr, q_strides, batch, q_row + at, head, BLOCK_M, BLOCK_D), mask=in_q, other=0.0)
    dout = tl.load(
        addresses(dout_ptr, dout_strides, batch, q_row + at, head, BLOCK_M, BLOCK_V),
        mask=inside(at, queries, v_dim, BLOCK_M, BLOCK_V),
        other=0.0,
    )
    of_rows = of_batch.to(tl.int64) * row_strides[0] + head.to(tl.int64) * row_strides[1] + row
    of_rows += filled_up(q_row, batch, FEATURES.varlen, PREPARED)
    exponent = tl.load(exponent_ptr + of_rows)  # (BLOCK_M)
    delta = tl.load(delta_ptr + of_rows)
    slope, seed = 0.0, 0
    if FEATURES.alibi:
        slope = tl.load(slopes_ptr + batch * slope_strides[0] + head * slope_strides[1])
    if FEATURES.dropout:
        seed = tl.load(seed_ptr)
    rows = (q, dout, exponent, delta)
    place = (batch, head, row[:, None], of_batch, head // group, k_row)
    size = (keys, keys - queries, heads)
    numbers = (scale, softcap, slope, left, right, seed, threshold, keep_scale)
    dq = tl.zeros((BLOCK_M, BLOCK_D), tl.float32)
    begin, all_begin, all_end, end = keys_of(at, queries, keys, left, right, FEATURES, BLOCK_M, BLOCK_N)
    whole, first, last = (all_begin, all_end), begin, end
    PARTS: tl.constexpr = FEATURES.varlen  # of which k and v, where masked, go through registers
    MASK: tl.constexpr = "outside" if FEATURES.masked and not PARTS else "never"
    if PARTS:
        first, last = whole
    if PARTS and FEATURES.begins_masked:
        dq = _walk(
            dq, rows, k_tiles, v_tiles, begin, all_begin, whole, place, size, numbers, FEATURES, MOD,
            MOD_DERIVATIVE, "always", BLOCK_N,
        )  # fmt: skip
    dq = _walk(
        dq, rows, k_tiles, v_tiles, first, last, whole, place, size, numbers, FEATURES, MOD,
        MOD_DERIVATIVE, MASK, BLOCK_N,
    )  # fmt: skip
    if PARTS and FEATURES.ends_masked:
        dq = _walk(
            dq, rows, k_tiles, v_tiles, all_end, end, whole, place, size, numbers, FEATURES, MOD,
            MOD_DERIVATIVE, "always", BLOCK_N,
        )  # fmt: skip
    tl.store(
        addresses(dq_ptr, dq_strides, batch, q_row + at, head, BLOCK_M, BLOCK_D),
        (dq * scale).to(dq_ptr.dtype.element_ty),
        mask=in_q,
    )
