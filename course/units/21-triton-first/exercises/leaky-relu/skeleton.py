"""out[i] = x[i] where x[i] > 0, else slope x[i]. x, out: (n). The grid has 6 programs at most, whatever n is."""

import triton
import triton.language as tl


@triton.jit
def leaky_relu_kernel(x_ptr, out_ptr, slope, n, BLOCK: tl.constexpr):
    start = tl.program_id(0) * BLOCK  # TODO: the first block of this program; who takes those after 6 * BLOCK?
    offsets = start + tl.arange(0, BLOCK)  # (BLOCK)
    inside = offsets < n
    x = tl.load(x_ptr + offsets, mask=inside)
    y = tl.maximum(x, 0.0)  # TODO: the slope; and what becomes of a NaN here?
    tl.store(out_ptr + offsets, y, mask=inside)
