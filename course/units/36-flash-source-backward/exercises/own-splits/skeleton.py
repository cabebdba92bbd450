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
    kv_head = 0  # TODO: which head of k does this head of q have?
    column = tl.arange(0, BLOCK_D)  # (BLOCK_D)
    own_ptr = accum_ptr + head * d  # TODO: which split is this program's own?
    for tile in range(split, tl.cdiv(keys, BLOCK_N), splits):
        key = tile * BLOCK_N + tl.arange(0, BLOCK_N)  # (BLOCK_N)
        k_inside = (key < keys)[:, None] & (column < d)[None, :]
        k = tl.load(
            k_ptr + (key * kv_heads + kv_head)[:, None] * d + column[None, :], mask=k_inside, other=0.0
        )
        # TODO: for each tile of queries, add its dS times this k to the program's own sums
        tl.debug_barrier()
