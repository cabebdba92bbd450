"""out[i] = a x[i]. x, out: (n)."""

import triton
import triton.language as tl


@triton.jit
def scale_kernel(x_ptr, out_ptr, a, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)  # (BLOCK)  TODO: every program takes these; which are its own?
    x = tl.load(x_ptr + offsets)  # TODO: only what lies inside of the array
    tl.store(out_ptr + offsets, x)  # TODO: a times x, and only inside of the array
