"""FlashAttention 2 backward in Triton: weights again from q, k and lse, then five products of tiles.

maths    p = 2^(s - lse), dv = pᵀ do, dp = do vᵀ, ds = p (dp - delta), dk = dsᵀ q, dq = ds k, all in the scale
         of s; delta = Σ do · out - dlse for each query
layout   as in problem.py; a program has BLOCK_N keys of a head of k, and walks over the queries of all heads
         that share it, in tiles of BLOCK_M
cost     10 · pairs · dim FLOPs; 14 where dq has a kernel of its own (backward_queries.py)
improves nothing yet: the first backward pass
idea     scores are computed transposed, (keys, queries): so the weights lie in registers as the left factor
         of pᵀ do, and ds as that of dsᵀ q. dk and dv stay in registers. dq of a tile of queries has a part
         from every program: they are added in memory, in float32, which on Hopper the TMA does by itself; or,
         where each run has to give the same bits, a kernel of its own sums them.
"""

import triton
import triton.language as tl

from flashpath.kernels.attention.device.triton_scores import (
    LOG2E,
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
    queries_of,
    sequence,
)

INF = tl.constexpr(float("inf"))


@triton.jit(do_not_specialize=["queries", "heads"])
def backward_prepare(
    out_ptr,
    dout_ptr,
    lse_ptr,
    dlse_ptr,
    delta_ptr,
    exponent_ptr,
    out_strides,
    dout_strides,
    lse_strides,
    dlse_strides,
    row_strides,  # (batch, head) of delta and exponent
    cu_q_ptr,
    queries,
    heads,
    v_dim,
    VARLEN: tl.constexpr,
    ROWS: tl.constexpr,
    BLOCK_V: tl.constexpr,
):
    """For each query: delta, and its lse as an exponent of 2; inf, so that 2^(s - inf) is 0, of dead ones.

    Of queries that fill up the last tile too: who reads them needs no bound.
    """
    tiles = tl.cdiv(queries, ROWS)
    at = tl.program_id(0) % tiles * ROWS
    head = tl.program_id(0) // tiles % heads
    batch = tl.program_id(0) // tiles // heads
    q_row, _, queries, _, _ = sequence(batch, cu_q_ptr, cu_q_ptr, queries, queries, VARLEN)
    if VARLEN and at >= queries:
        return
    there = inside(at, queries, v_dim, ROWS, BLOCK_V)
    out = tl.load(
        addresses(out_ptr, out_strides, batch, q_row + at, head, ROWS, BLOCK_V), mask=there, other=0.0
    )
    dout = tl.load(
        addresses(dout_ptr, dout_strides, batch, q_row + at, head, ROWS, BLOCK_V), mask=there, other=0.0
    )
    delta = tl.sum(out.to(tl.float32) * dout.to(tl.float32), 1)  # (ROWS)
    row = at + tl.arange(0, ROWS)
    of_lse = batch.to(tl.int64) * lse_strides[0] + head.to(tl.int64) * lse_strides[1] + q_row
    lse = tl.load(lse_ptr + of_lse + row, mask=row < queries, other=-INF)
    if dlse_ptr is not None:
        of_head = batch.to(tl.int64) * dlse_strides[0] + head.to(tl.int64) * dlse_strides[1]
        delta -= tl.load(dlse_ptr + of_head + (q_row + row) * dlse_strides[2], mask=row < queries, other=0.0)
    exponent = tl.where(lse == -INF, INF, lse * LOG2E)
    place = batch.to(tl.int64) * row_strides[0] + head.to(tl.int64) * row_strides[1] + row
    place += filled_up(q_row, batch, VARLEN, ROWS)
    tl.store(delta_ptr + place, delta)
    tl.store(exponent_ptr + place, exponent)


@triton.jit
def _walk(
    dk,
    dv,
    k,  # (BLOCK_N, BLOCK_D)
    v,  # (BLOCK_N, BLOCK_V)
    q_tiles,
    dout_tiles,
    dq_tiles,
    exponents,
    deltas,
    first,
    last,
    whole,
    place,  # (batch, head, first key, of a row of q: batch, first, first of delta and exponent)
    size,  # (queries, keys, heads)
    numbers,  # (scale, softcap, slope, left, right, seed, threshold, keep_scale)
    FEATURES: tl.constexpr,
    MOD: tl.constexpr,
    MOD_DERIVATIVE: tl.constexpr,
    WITH_DQ: tl.constexpr,
    MASK: tl.constexpr,
    BLOCK_M: tl.constexpr,
):
    """The tiles of queries from `first` to `last`."""
    BLOCK_N: tl.constexpr = k.shape[0]
    batch, head, at, of_batch, q_row, row_at = place
    queries, keys, heads = size
    scale, softcap, slope, left, right, seed, threshold, keep_scale = numbers
    shift = keys - queries
    key = at + tl.arange(0, BLOCK_N)[:, None]  # (BLOCK_N, 1)
    for start in range(first, last, BLOCK_M):
        row = start + tl.arange(0, BLOCK_M)
        query = row[None, :]  # (1, BLOCK_M)
        q = q_tiles.load([of_batch, head, q_row + start, 0]).reshape(BLOCK_M, k.shape[1])
        dout = dout_tiles.load([of_batch, head, q_row + start, 0]).reshape(BLOCK_M, v.shape[1])
        if MASK != "never" and FEATURES.varlen:  # not what the next sequence has there: 0 · NaN is no 0
            q = tl.where(row[:, None] < queries, q, 0.0)
            dout = tl.where(row[:, None] < queries, dout, 0.0)
        exponent = exponents.load([of_batch, head, row_at + start]).reshape(BLOCK_M)
        delta = deltas.load([of_batch, head, row_at + start]).reshape(BLOCK_M)
        before = limited(tl.dot(k, q.T), scale, softcap, slope, query, key, shift, FEATURES)
        s = final(before, batch, head, query, key, MOD)  # (BLOCK_N, BLOCK_M)
        p = tl.exp2(s * exponent_scale(scale, FEATURES) - exponent[None, :])
        dp = tl.dot(v, dout.T)  # before the mask, whose `if` would part it from the exponentials beside it
        p = masked(p, 0.0, query, key, keys, shift, left, right, start, whole, FEATURES, MASK)
        weights = p
        if FEATURES.dropout:
            stays = kept(seed, threshold, batch * heads + head, row[:, None], at, BLOCK_N).T
            weights = tl.where(stays, p * keep_scale, 0.0)
            dp = tl.where(stays, dp * keep_scale, 0.0)
        dv = tl.dot(weights.to(dout.dtype), dout, dv)
        ds = p * (dp - delta[None, :])
        if not FEATURES.folded:
            ds *= derivative(before, softcap, slope, batch, head, query, key, shift, FEATURES, MOD_DERIVATIVE)
        ds = ds.to(q.dtype)
        dk = tl.dot(ds, q, dk)
        if WITH_DQ:
            dq = tl.dot(ds.T, k)  # (BLOCK_M, BLOCK_D)
            dq_tiles.atomic_add([of_batch, head, q_row + start, 0], dq.reshape(1, 1, BLOCK_M, k.shape[1]))
    return dk, dv


@triton.jit(do_not_specialize=["queries", "keys", "left", "right", "threshold", "heads", "group"])
def backward_keys(
    q_tiles,  # (batch, heads, queries, dim), in tiles of (1, 1, BLOCK_M, BLOCK_D)
    dout_tiles,
    dq_tiles,  # float32
    k_ptr,
    v_ptr,
    dk_ptr,
    dv_ptr,
    exponents,  # (batch, heads, queries), in tiles of (1, 1, BLOCK_M)
    deltas,
    k_strides,  # (batch, row, head)
    v_strides,
    dk_strides,
    dv_strides,
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
    WITH_DQ: tl.constexpr,
    PREPARED: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_D: tl.constexpr,
    BLOCK_V: tl.constexpr,
):
    tiles = tl.cdiv(keys, BLOCK_N)
    at = tl.program_id(0) % tiles * BLOCK_N  # the first keys have the most queries under a causal mask
    kv_head = tl.program_id(0) // tiles % (heads // group)
    batch = tl.program_id(0) // tiles // (heads // group)
    q_row, k_row, queries, keys, of_batch = sequence(
        batch, cu_q_ptr, cu_k_ptr, queries, keys, FEATURES.varlen
    )
    if FEATURES.varlen and at >= keys:
        return
    in_k = inside(at, keys, dim, BLOCK_N, BLOCK_D)
    in_v = inside(at, keys, v_dim, BLOCK_N, BLOCK_V)
    k = tl.load(
        addresses(k_ptr, k_strides, batch, k_row + at, kv_head, BLOCK_N, BLOCK_D), mask=in_k, other=0.0
    )
    v = tl.load(
        addresses(v_ptr, v_strides, batch, k_row + at, kv_head, BLOCK_N, BLOCK_V), mask=in_v, other=0.0
    )
    slope, seed = 0.0, 0
    if FEATURES.dropout:
        seed = tl.load(seed_ptr)
    begin, all_begin, all_end, end = queries_of(at, queries, keys, left, right, FEATURES, BLOCK_N, BLOCK_M)
    whole, first, last = (all_begin, all_end), begin, end
    PARTS: tl.constexpr = FEATURES.varlen  # of which q and dout, where masked, go through registers
    MASK: tl.constexpr = "outside" if FEATURES.masked and not PARTS else "never"
    if PARTS:
        first, last = whole
    size = (queries, keys, heads)
    dk = tl.zeros((BLOCK_N, BLOCK_D), tl.float32)
    dv = tl.zeros((BLOCK_N, BLOCK_V), tl.float32)
    for head in range(kv_head * group, kv_head * group + group):
        if FEATURES.alibi:
            slope = tl.load(slopes_ptr + batch * slope_strides[0] + head * slope_strides[1])
        place = (batch, head, at, of_batch, q_row, filled_up(q_row, batch, FEATURES.varlen, PREPARED))
        numbers = (scale, softcap, slope, left, right, seed, threshold, keep_scale)
        if PARTS and FEATURES.begins_masked:
            dk, dv = _walk(
                dk, dv, k, v, q_tiles, dout_tiles, dq_tiles, exponents, deltas, begin, all_begin, whole,
                place, size, numbers, FEATURES, MOD, MOD_DERIVATIVE, WITH_DQ, "always", BLOCK_M,
            )  # fmt: skip
        dk, dv = _walk(
            dk, dv, k, v, q_tiles, dout_tiles, dq_tiles, exponents, deltas, first, last, whole,
            place, size, numbers, FEATURES, MOD, MOD_DERIVATIVE, WITH_DQ, MASK, BLOCK_M,
        )  # fmt: skip
        if PARTS and FEATURES.ends_masked:
            dk, dv = _walk(
                dk, dv, k, v, q_tiles, dout_tiles, dq_tiles, exponents, deltas, all_end, end, whole,
                place, size, numbers, FEATURES, MOD, MOD_DERIVATIVE, WITH_DQ, "always", BLOCK_M,
            )  # fmt: skip
    tl.store(
        addresses(dk_ptr, dk_strides, batch, k_row + at, kv_head, BLOCK_N, BLOCK_D),
        (dk * scale).to(dk_ptr.dtype.element_ty),
        mask=in_k,
    )
    tl.store(
        addresses(dv_ptr, dv_strides, batch, k_row + at, kv_head, BLOCK_N, BLOCK_V),
        dv.to(dv_ptr.dtype.element_ty),
        mask=in_v,
    )
