"""The sums of dQ in deterministic mode: each program adds to a split of its own.

Program (s, h) has the tiles of 32 keys number s, s + splits, s + 2 splits … of head h; splits is the width of the grid. For
each of them it walks over the tiles of 16 queries and adds dS K to accum[s].
ds: (heads, queries, keys), k: (keys, kv_heads, d), fp16; heads that follow each other share one of k. d <= BLOCK_D.
accum: (splits, rounded, heads, d), float32, zeros at first; rounded: queries, up to a multiple of 16.
"""

import triton
import triton.language as tl


@triton.jit
def sums_kernel(
    ds_ptr,
    k_ptr,
    accum_ptr,
    queries,
    keys,
    heads,
    kv_heads,
    d,
    rounded,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_D: tl.constexpr,
):
    split = tl.program_id(0)
    splits = tl.num_programs(0)
    head = tl.program_id(1)
    kv_head = head // (heads // kv_heads)
    column = tl.arange(0, BLOCK_D)  # (BLOCK_D)
    own_ptr = accum_ptr + split * rounded * heads * d + head * d
    for tile in range(split, tl.cdiv(keys, BLOCK_N), splits):
        key = tile * BLOCK_N + tl.arange(0, BLOCK_N)  # (BLOCK_N)
        k_inside = (key < keys)[:, None] & (column < d)[None, :]
        k = tl.load(
            k_ptr + (key * kv_heads + kv_head)[:, None] * d + column[None, :], mask=k_inside, other=0.0
        )
        for first in range(0, rounded, BLOCK_M):
            row = first + tl.arange(0, BLOCK_M)  # (BLOCK_M)
            ds_inside = (row < queries)[:, None] & (key < keys)[None, :]
            ds = tl.load(
                ds_ptr + (head * queries + row)[:, None] * keys + key[None, :], mask=ds_inside, other=0.0
            )
            to = own_ptr + row[:, None] * heads * d + column[None, :]
            total = tl.load(to, mask=(column < d)[None, :], other=0.0)
            total += tl.dot(ds, k)  # (BLOCK_M, BLOCK_D)
            tl.store(to, total, mask=(column < d)[None, :])
        tl.debug_barrier()
