"""out[i] = a x[i]. x, out: (n)."""

import triton
import triton.language as tl


@triton.jit
def scale_kernel(x_ptr, out_ptr, a, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)  # (BLOCK)
    inside = offsets < n
    x = tl.load(x_ptr + offsets, mask=inside)
    tl.store(out_ptr + offsets, a * x, mask=inside)
