"""out[i] = x[i] where x[i] > 0, else slope x[i]. x, out: (n). The grid has 6 programs at most, whatever n is."""

import triton
import triton.language as tl


@triton.jit
def leaky_relu_kernel(x_ptr, out_ptr, slope, n, BLOCK: tl.constexpr):
    step = tl.num_programs(0) * BLOCK
    for start in range(tl.program_id(0) * BLOCK, n, step):
        offsets = start + tl.arange(0, BLOCK)  # (BLOCK)
        inside = offsets < n
        x = tl.load(x_ptr + offsets, mask=inside)
        y = tl.where(x > 0, x, slope * x)
        tl.store(out_ptr + offsets, y, mask=inside)
