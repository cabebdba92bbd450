"""FlashAttention 2 forward in Triton.

maths    for a tile of queries, over tiles of keys: s = q kᵀ, m' = max(m, max s), p = 2^(s - m'),
         l = l 2^(m - m') + Σ p, acc = acc 2^(m - m') + p v; out = acc / l, lse = (m + log2 l) ln 2
layout   as in problem.py; a program has BLOCK_M queries of one head, k and v come in tiles of BLOCK_N keys
cost     2 · pairs · (dim + v_dim) FLOPs; q and out once, k and v once for each tile of queries (mostly by L2)
improves flash_v1: queries are the outer loop, so that acc, m and l stay in registers and out is written once;
         the division comes once, in the end; no two programs meet
idea     tiles that every query of the program sees whole need no mask: an `if` skips it, in one loop, which
         has all loads on their way. Under a causal mask the programs with the most keys start first, so that
         short ones fill the GPU in the end.
         AHEAD: q kᵀ of the next tile is asked for before the softmax of this one. Tensor cores work on it,
         and still on p v of the tile before, while the softmax keeps the other units busy; else one waits
         for the other. It costs a second tile of scores in registers and a product in the end that nobody
         reads. No `if` may lie between, as instructions are not moved across it: so masked tiles have loops
         of their own, which pays where there are many tiles.
"""

import triton
import triton.language as tl

from flashpath.kernels.attention.device.triton_scores import (
    LN2,
    LOG2E,
    exponent_scale,
    final,
    kept,
    limited,
    masked,
)
from flashpath.kernels.attention.flash_v2.triton.tiles import addresses, inside, keys_of, sequence

MINUS_INF = tl.constexpr(float("-inf"))


@triton.jit
def _products(q, k_tiles, start, place, BLOCK_N: tl.constexpr):
    """q kᵀ of the tile that begins at key `start`; past the last key there are zeros, or anything."""
    _, _, _, k_batch, k_head, k_row = place
    k = k_tiles.load([k_batch, k_head, k_row + start, 0]).reshape(BLOCK_N, q.shape[1])
    return tl.dot(q, k.T)  # (BLOCK_M, BLOCK_N)


@triton.jit
def _attend(
    state,  # (acc, m, total, where AHEAD the products of the tile at `first`)
    q,
    k_tiles,
    v_tiles,
    first,
    last,
    whole,
    place,  # of the program: (batch, head, query (BLOCK_M, 1), of a row of k: batch, head, first)
    size,  # (keys, keys - queries, heads)
    numbers,  # (scale, softcap, slope, left, right, seed, threshold)
    FEATURES: tl.constexpr,
    MOD: tl.constexpr,
    MASK: tl.constexpr,
    AHEAD: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    """The tiles of keys from `first` to `last`."""
    acc, m, total, ahead = state
    batch, head, query, k_batch, k_head, k_row = place
    keys, shift, heads = size
    scale, softcap, slope, left, right, seed, threshold = numbers
    to_exponent = exponent_scale(scale, FEATURES)
    for start in range(first, last, BLOCK_N):
        key = start + tl.arange(0, BLOCK_N)[None, :]  # (1, BLOCK_N)
        if AHEAD:
            s = ahead
            ahead = _products(q, k_tiles, start + BLOCK_N, place, BLOCK_N)
        else:
            s = _products(q, k_tiles, start, place, BLOCK_N)
        s = limited(s, scale, softcap, slope, query, key, shift, FEATURES)
        s = final(s, batch, head, query, key, MOD)
        s = masked(s, MINUS_INF, query, key, keys, shift, left, right, start, whole, FEATURES, MASK)
        larger = tl.maximum(m, tl.max(s, 1) * to_exponent)  # (BLOCK_M)
        base = larger
        if MASK != "never" or MOD is not None:
            base = tl.where(larger == MINUS_INF, 0.0, larger)  # nothing seen yet: all weights are 0
        p = tl.exp2(s * to_exponent - base[:, None])
        shrink = tl.exp2(m - base)
        total = total * shrink + tl.sum(p, 1)
        acc = acc * shrink[:, None]
        if FEATURES.dropout:
            p = tl.where(kept(seed, threshold, batch * heads + head, query, start, BLOCK_N), p, 0.0)
        v = v_tiles.load([k_batch, k_head, k_row + start, 0]).reshape(BLOCK_N, acc.shape[1])
        if MASK != "never" and FEATURES.varlen:
            v = tl.where(keys > key.T, v, 0.0)  # not what the next sequence has there: 0 · NaN is no 0
        acc = tl.dot(p.to(v.dtype), v, acc)
        m = larger
    return acc, m, total, ahead


@triton.jit(do_not_specialize=["queries", "keys", "left", "right", "threshold", "heads", "group"])
def attention_forward(
    q_ptr,
    k_tiles,  # (batch, kv heads, keys, dim), in tiles of (1, 1, BLOCK_N, BLOCK_D)
    v_tiles,
    out_ptr,
    lse_ptr,
    q_strides,  # (batch, row, head)
    out_strides,
    lse_strides,  # (batch, head)
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
    sinks_ptr,
    left,
    right,
    seed_ptr,
    threshold,
    keep_scale,
    FEATURES: tl.constexpr,
    MOD: tl.constexpr,
    HEADS_ABREAST: tl.constexpr,
    AHEAD: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_D: tl.constexpr,
    BLOCK_V: tl.constexpr,
):
    tiles = tl.cdiv(queries, BLOCK_M)
    of_sequence = tl.program_id(0) % (tiles * heads)
    batch = tl.program_id(0) // (tiles * heads)
    if HEADS_ABREAST:
        head, tile = of_sequence % heads, of_sequence // heads
    else:
        head, tile = of_sequence // tiles, of_sequence % tiles
    if FEATURES.right:
        tile = tiles - 1 - tile
    at = tile * BLOCK_M
    q_row, k_row, queries, keys, of_batch = sequence(
        batch, cu_q_ptr, cu_k_ptr, queries, keys, FEATURES.varlen
    )
    if FEATURES.varlen and at >= queries:
        return
    row = at + tl.arange(0, BLOCK_M)  # (BLOCK_M)
    q = tl.load(
        addresses(q_ptr, q_strides, batch, q_row + at, head, BLOCK_M, BLOCK_D),
        mask=inside(at, queries, dim, BLOCK_M, BLOCK_D),
        other=0.0,
    )  # (BLOCK_M, BLOCK_D)
    if AHEAD:
        # Zeros are zeros again; but a factor that is computed, not loaded, stays in registers: without the
        # traffic of q, shared memory keeps up with two products at a time.
        q = tl.where((row < queries)[:, None], q, 0.0)
    slope, seed = 0.0, 0
    if FEATURES.alibi:
        slope = tl.load(slopes_ptr + batch * slope_strides[0] + head * slope_strides[1])
    if FEATURES.dropout:
        seed = tl.load(seed_ptr)
    place = (batch, head, row[:, None], of_batch, head // group, k_row)
    size = (keys, keys - queries, heads)
    numbers = (scale, softcap, slope, left, right, seed, threshold)

    m = tl.full((BLOCK_M,), MINUS_INF, tl.float32)
    total = tl.zeros((BLOCK_M,), tl.float32)
    if FEATURES.sinks:
        m = tl.zeros((BLOCK_M,), tl.float32) + tl.load(sinks_ptr + head) * LOG2E
        total += 1.0
    acc = tl.zeros((BLOCK_M, BLOCK_V), tl.float32)
    begin, all_begin, all_end, end = keys_of(at, queries, keys, left, right, FEATURES, BLOCK_M, BLOCK_N)
    whole, first, last = (all_begin, all_end), begin, end
    PARTS: tl.constexpr = AHEAD or FEATURES.varlen  # of which v, where masked, goes through registers
    MASK: tl.constexpr = "outside" if FEATURES.masked and not PARTS else "never"
    if PARTS:
        first, last = whole
    ahead = 0.0  # nothing
    if AHEAD:
        ahead = _products(q, k_tiles, begin, place, BLOCK_N)
    state = (acc, m, total, ahead)
    if PARTS and FEATURES.begins_masked:
        state = _attend(
            state, q, k_tiles, v_tiles, begin, all_begin, whole, place, size, numbers, FEATURES, MOD,
            "always", AHEAD, BLOCK_N,
        )  # fmt: skip
    state = _attend(
        state, q, k_tiles, v_tiles, first, last, whole, place, size, numbers, FEATURES, MOD,
        MASK, AHEAD, BLOCK_N,
    )  # fmt: skip
    if PARTS and FEATURES.ends_masked:
        state = _attend(
            state, q, k_tiles, v_tiles, all_end, end, whole, place, size, numbers, FEATURES, MOD,
            "always", AHEAD, BLOCK_N,
        )  # fmt: skip
    acc, m, total, _ = state

    lse_ptr += batch.to(tl.int64) * lse_strides[0] + head.to(tl.int64) * lse_strides[1] + q_row
    tl.store(lse_ptr + row, (m + tl.log2(total)) * LN2, mask=row < queries)
    factor = 1.0 / tl.where(total == 0, 1.0, total)  # one division for a row, not for each of its numbers
    if FEATURES.dropout:
        factor = factor * keep_scale
    tl.store(
        addresses(out_ptr, out_strides, batch, q_row + at, head, BLOCK_M, BLOCK_V),
        (acc * factor[:, None]).to(out_ptr.dtype.element_ty),
        mask=inside(at, queries, v_dim, BLOCK_M, BLOCK_V),
    )
