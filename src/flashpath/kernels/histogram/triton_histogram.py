"""Histogram, rung 7: Triton. `tl.histogram` counts a block of bins; programs add their counts up.

maths    counts[b] += 1 for every x[i] in bin b, with the arithmetic of bins.cuh
layout   x: (n), contiguous; counts: (bins), 64-bit, 0 before the launch
cost     about 10 operations per value; at least n sizeof(T) bytes, and bins atomic additions per program
improves shared: the copies, the barriers and the additions in shared memory are the compiler's
idea     a program finds the bins of a block of values and has them counted, block after block; the sum of its
         counts stays in registers until the end. `tl.histogram` wants a power of two of bins; values that
         fall into none are masked out.
"""

import triton
import triton.language as tl


@triton.jit(do_not_specialize=["n", "bins", "lo", "hi"])  # a 1 would come as a Python number
def histogram_kernel(x_ptr, counts_ptr, n, bins, lo, hi, BINS: tl.constexpr, BLOCK: tl.constexpr):
    counts = tl.zeros((BINS,), tl.int32)
    # 64 bits: the loop's offset passes 2^31 for tensors of more elements.
    for start in range(tl.program_id(0).to(tl.int64) * BLOCK, n, tl.num_programs(0).to(tl.int64) * BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        inside = offsets < n
        x = tl.load(x_ptr + offsets, mask=inside, other=0)
        if x.dtype.is_floating():
            x = x.to(tl.float32)
            width = tl.full((BLOCK,), hi - lo, tl.float32)
            found = tl.div_rn((x - lo) * bins.to(tl.float32), width).to(tl.int32)
        else:
            found = ((x.to(tl.int64) - lo) * bins // (hi.to(tl.int64) - lo)).to(tl.int32)
        counted = inside & (x >= lo) & (x <= hi)
        counts += tl.histogram(tl.minimum(found, bins - 1), BINS, mask=counted)
    numbers = tl.arange(0, BINS)
    tl.atomic_add(
        counts_ptr + numbers, counts.to(tl.int64), mask=(numbers < bins) & (counts != 0), sem="relaxed"
    )
