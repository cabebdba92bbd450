"""What comes after the main kernel: dQ from its sums.

accum: (splits, rounded, heads, padded), float32, rounded >= queries, padded <= BLOCK_D, a multiple of 32. dq: (queries, heads, d),
fp16, = scale times the sum over the splits, added up in their order in float32 and rounded once.
Program (i, h) has the rows from 32 i on of head h.
"""

import triton
import triton.language as tl


@triton.jit
def convert_kernel(
    accum_ptr,
    dq_ptr,
    splits,
    queries,
    rounded,
    heads,
    d,
    padded,
    scale,
    BLOCK_M: tl.constexpr,
    BLOCK_D: tl.constexpr,
):
    head = tl.program_id(1)
    row = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)  # (BLOCK_M)
    column = tl.arange(0, BLOCK_D)  # (BLOCK_D)
    inside = (row < queries)[:, None] & (column < d)[None, :]
    at = (row * heads + head)[:, None] * padded + column[None, :]
    total = tl.zeros((BLOCK_M, BLOCK_D), tl.float32)
    for split in range(splits):
        total += tl.load(accum_ptr + split * rounded * heads * padded + at, mask=inside, other=0.0)
    dq = (total * scale).to(tl.float16)
    tl.store(dq_ptr + (row * heads + head)[:, None] * d + column[None, :], dq, mask=inside)
