"""Vector addition, rung 4: Triton. One program adds one block; the compiler chooses threads and widths.

maths    c[i] = a[i] + b[i]
layout   a, b, c: (n), contiguous
cost     n FLOPs; at least 3 n sizeof(T) bytes
improves vectorized: as fast, in a third of the lines (docs/results/vector_add.md)
idea     the program is written for a block of elements at once. Triton spreads it over threads and makes the
         accesses 16 bytes wide by itself; the mask takes the place of `if (i < n)`.
"""

import triton
import triton.language as tl


@triton.jit
def vector_add_kernel(a_ptr, b_ptr, c_ptr, n, BLOCK: tl.constexpr):
    # 64 bits: program_id * BLOCK passes 2^31 for tensors of more elements.
    start = tl.program_id(0).to(tl.int64) * BLOCK
    offsets = start + tl.arange(0, BLOCK)  # (BLOCK)
    inside = offsets < n
    a = tl.load(a_ptr + offsets, mask=inside)
    b = tl.load(b_ptr + offsets, mask=inside)
    tl.store(c_ptr + offsets, a + b, mask=inside)
