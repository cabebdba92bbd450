"""Warp primitives, rung 12: Triton, which has no lanes, and says the same with rows of 32.

maths    of each group of 32 elements: the first (broadcast), the sum, is any and are all of them > 0, which
         of them are (ballot), and for each element which others have the same bits (match)
layout   x: (n), contiguous; a group is a row of a (BLOCK / 32, 32) block; the last may be shorter.
         out: (n), or (⌈n / 32⌉) where a group has one result
cost     at least n sizeof(T) bytes read, and the output written
improves shared_memory: no thread, array or barrier
idea     a reduction along a row, a gather along a row, a comparison of a row with itself: where a row lies
         within a warp the compiler makes shuffles of them. A vote is a sum of powers of two.
"""

import triton
import triton.language as tl


@triton.jit
def warp_kernel(x_ptr, out_ptr, n, OP: tl.constexpr, BLOCK: tl.constexpr):
    groups: tl.constexpr = BLOCK // 32
    # 64 bits: program_id * BLOCK passes 2^31 for tensors of more elements.
    group = tl.program_id(0).to(tl.int64) * groups + tl.arange(0, groups)  # (groups)
    lane = tl.arange(0, 32)
    place = group[:, None] * 32 + lane[None, :]  # (groups, 32)
    inside = place < n
    x = tl.load(x_ptr + place, mask=inside, other=0)
    is_positive = ((x > 0) & inside).to(tl.int32)
    if OP == "broadcast":
        first = tl.gather(x, tl.zeros((groups, 32), tl.int32), 1)
        tl.store(out_ptr + place, first, mask=inside)
    elif OP == "match":
        bits = x.to(tl.int32, bitcast=True)
        is_same = (bits[:, :, None] == bits[:, None, :]) & inside[:, None, :]  # (groups, 32, 32)
        tl.store(out_ptr + place, tl.sum(is_same.to(tl.int32) << lane[None, None, :], 2), mask=inside)
    else:
        if OP == "sum":
            result = tl.sum(x, 1)
        elif OP == "any":
            result = tl.max(is_positive, 1)
        elif OP == "all":
            result = tl.min(((x > 0) | (place >= n)).to(tl.int32), 1)
        else:
            result = tl.sum(is_positive << lane[None, :], 1)
        tl.store(out_ptr + group, result.to(out_ptr.dtype.element_ty), mask=group * 32 < n)
