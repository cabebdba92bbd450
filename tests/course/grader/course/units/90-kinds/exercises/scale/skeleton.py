import triton
import triton.language as tl


@triton.jit
def scale(x, y, a, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
