"""Parts of an attention over different keys put together, of splits or of a cascade's calls; in Triton.

maths    lse = log Σ e^lse_s, out = Σ e^(lse_s - lse) out_s over the parts s; a sink is a part without a value
layout   parts: (splits, batch, heads, queries, v_dim) in float32, their lse the same without the last
cost     2 · splits · v_dim FLOPs for each row; every part once
idea     softmax over a union of keys is a mean of the parts' softmaxes, weighted with their sums: e^lse. So
         parts can be computed apart, in any order, and nothing but out and lse is needed of them.
"""

import triton
import triton.language as tl

from flashpath.kernels.attention.device.triton_scores import LN2, LOG2E

MINUS_INF = tl.constexpr(float("-inf"))


@triton.jit(do_not_specialize=["splits"])
def combine_kernel(
    parts_ptr,
    parts_lse_ptr,
    out_ptr,  # (batch, queries, heads, v_dim)
    lse_ptr,  # (batch, heads, queries)
    sinks_ptr,
    splits,
    rows,  # batch · heads · queries
    queries,
    heads,
    v_dim,
    SPLITS: tl.constexpr,  # a power of two, not less than splits
    BLOCK_V: tl.constexpr,
    OVERLAPS: tl.constexpr,  # launched before the parts are there
):
    number = tl.program_id(0).to(tl.int64)
    split, column = tl.arange(0, SPLITS), tl.arange(0, BLOCK_V)
    there = split < splits
    if OVERLAPS:
        tl.extra.cuda.gdc_wait()
    logs = tl.load(parts_lse_ptr + split * rows.to(tl.int64) + number, mask=there, other=MINUS_INF) * LOG2E
    m = tl.max(logs, 0)
    query, head = number % queries, number // queries % heads
    batch = number // queries // heads
    if sinks_ptr is not None:
        sink = tl.load(sinks_ptr + head) * LOG2E
        m = tl.maximum(m, sink)
    base = tl.where(m == MINUS_INF, 0.0, m)
    weights = tl.exp2(logs - base)  # (SPLITS)
    total = tl.sum(weights, 0)
    if sinks_ptr is not None:
        total += tl.exp2(sink - base)
    parts = tl.load(
        parts_ptr + (split[:, None] * rows.to(tl.int64) + number) * v_dim + column[None, :],
        mask=there[:, None] & (column < v_dim)[None, :],
        other=0.0,
    )  # (SPLITS, BLOCK_V)
    out = tl.sum(parts * weights[:, None], 0) / tl.where(total == 0, 1.0, total)
    tl.store(lse_ptr + number, (m + tl.log2(total)) * LN2)
    out_ptr += ((batch * queries + query) * heads + head) * v_dim
    tl.store(out_ptr + column, out.to(out_ptr.dtype.element_ty), mask=column < v_dim)


@triton.jit
def merge_kernel(
    a_ptr,
    a_lse_ptr,
    b_ptr,
    b_lse_ptr,
    out_ptr,  # (batch, queries, heads, v_dim), like a and b
    lse_ptr,  # (batch, heads, queries), like those of a and b
    queries,
    heads,
    v_dim,
    BLOCK_V: tl.constexpr,
):
    number = tl.program_id(0).to(tl.int64)
    query, head = number % queries, number // queries % heads
    row = ((number // queries // heads * queries + query) * heads + head) * v_dim
    column = tl.arange(0, BLOCK_V)
    a_log, b_log = tl.load(a_lse_ptr + number) * LOG2E, tl.load(b_lse_ptr + number) * LOG2E
    m = tl.maximum(a_log, b_log)
    base = tl.where(m == MINUS_INF, 0.0, m)
    a_weight, b_weight = tl.exp2(a_log - base), tl.exp2(b_log - base)
    total = a_weight + b_weight
    a = tl.load(a_ptr + row + column, mask=column < v_dim, other=0.0).to(tl.float32)
    b = tl.load(b_ptr + row + column, mask=column < v_dim, other=0.0).to(tl.float32)
    out = (a * a_weight + b * b_weight) / tl.where(total == 0, 1.0, total)
    tl.store(lse_ptr + number, (m + tl.log2(total)) * LN2)
    tl.store(out_ptr + row + column, out.to(out_ptr.dtype.element_ty), mask=column < v_dim)
