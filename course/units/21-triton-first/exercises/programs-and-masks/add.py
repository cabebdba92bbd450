"""c = a + b. a, b, c: (n). One program takes BLOCK elements."""

import triton
import triton.language as tl


@triton.jit
def add(a_ptr, b_ptr, c_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    a = tl.load(a_ptr + offsets, mask=inside)
    b = tl.load(b_ptr + offsets, mask=inside)
    tl.store(c_ptr + offsets, a + b, mask=inside)
