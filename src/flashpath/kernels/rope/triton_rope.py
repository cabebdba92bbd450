"""Rotary position embedding, rung 4: Triton. One program per token, its angles in registers for all heads.

maths    (a, b) → (a cos θ - b sin θ, b cos θ + a sin θ) of every pair of a head, θ of position and pair
layout   q: (batch, sequence, heads, dim), k: (batch, sequence, kv_heads, dim), strided; outputs contiguous;
         cos, sin: (rows, pairs), or a row for each token
cost     6 FLOPs a pair; at least 2 sizeof(T) bytes an element, and cos and sin once
improves vectorized: as few bytes in fewer lines; widths, tails and alignment are the compiler's business
idea     a program takes blocks of (HEADS, PAIRS) of one token, of q and then of k, with the same two rows of
         angles. Interleaved pairs come in as one block, and are split and joined again in registers, so that
         accesses stay whole.
"""

import triton
import triton.language as tl


@triton.jit
def turn_heads(
    x_ptr,
    out_ptr,
    head_stride,
    heads,
    dim,
    pairs,
    c,
    s,
    INTERLEAVED: tl.constexpr,
    HEADS: tl.constexpr,
    PAIRS: tl.constexpr,
    REST: tl.constexpr,
):
    """All heads of one token: x_ptr is at its first, out_ptr too; c, s: (1, PAIRS)."""
    for start in range(0, heads, HEADS):
        head = (start + tl.arange(0, HEADS)[:, None]).to(tl.int64)  # (HEADS, 1)
        there = head < heads
        from_ptr, to_ptr = x_ptr + head * head_stride, out_ptr + head * dim
        if INTERLEAVED:
            column = tl.arange(0, 2 * PAIRS)[None, :]  # (1, 2 PAIRS)
            inside = there & (column < 2 * pairs)
            both = tl.load(from_ptr + column, mask=inside, other=0.0).to(tl.float32)
            a, b = tl.split(tl.reshape(both, (HEADS, PAIRS, 2)))
            both = tl.reshape(tl.join(a * c - b * s, b * c + a * s), (HEADS, 2 * PAIRS))
            tl.store(to_ptr + column, both, mask=inside)
        else:
            column = tl.arange(0, PAIRS)[None, :]  # (1, PAIRS)
            inside = there & (column < pairs)
            a = tl.load(from_ptr + column, mask=inside, other=0.0).to(tl.float32)
            b = tl.load(from_ptr + pairs + column, mask=inside, other=0.0).to(tl.float32)
            tl.store(to_ptr + column, a * c - b * s, mask=inside)
            tl.store(to_ptr + pairs + column, b * c + a * s, mask=inside)
        if REST:
            column = 2 * pairs + tl.arange(0, REST)[None, :]  # (1, REST)
            inside = there & (column < dim)
            tl.store(to_ptr + column, tl.load(from_ptr + column, mask=inside), mask=inside)


@triton.jit
def rope_kernel(
    q_ptr,
    k_ptr,
    q_out_ptr,
    k_out_ptr,
    cos_ptr,
    sin_ptr,
    positions_ptr,
    q_strides,  # of batch, sequence and head
    k_strides,
    cos_strides,  # of batch and row
    sin_strides,
    position_strides,  # of batch and sequence
    offset,
    sequence,
    rows,
    heads,
    kv_heads,
    dim,
    pairs,
    sign,
    COUNTS: tl.constexpr,
    INTERLEAVED: tl.constexpr,
    HEADS: tl.constexpr,
    PAIRS: tl.constexpr,
    REST: tl.constexpr,
):
    at = tl.program_id(0).to(tl.int64)
    batch, token = at // sequence, at % sequence
    row = tl.zeros((), tl.int64) + offset
    if COUNTS:
        row += token
    if positions_ptr is not None:
        row += tl.load(positions_ptr + batch * position_strides[0] + token * position_strides[1])
    pair = tl.arange(0, PAIRS)[None, :]  # (1, PAIRS)
    turns = (pair < pairs) & (row >= 0) & (row < rows)
    from_cos = cos_ptr + batch * cos_strides[0] + row * cos_strides[1]
    from_sin = sin_ptr + batch * sin_strides[0] + row * sin_strides[1]
    c = tl.load(from_cos + pair, mask=turns, other=1.0).to(tl.float32)
    s = tl.load(from_sin + pair, mask=turns, other=0.0).to(tl.float32) * sign
    from_q = q_ptr + batch * q_strides[0] + token * q_strides[1]
    to_q = q_out_ptr + at * heads * dim
    turn_heads(from_q, to_q, q_strides[2], heads, dim, pairs, c, s, INTERLEAVED, HEADS, PAIRS, REST)
    if k_ptr is not None:
        from_k = k_ptr + batch * k_strides[0] + token * k_strides[1]
        to_k = k_out_ptr + at * kv_heads * dim
        turn_heads(from_k, to_k, k_strides[2], kv_heads, dim, pairs, c, s, INTERLEAVED, HEADS, PAIRS, REST)
