# Write nothing.
# unwritten
import triton
import triton.language as tl


@triton.jit
def answer(n, x, y, BLOCK: tl.constexpr):
    tl.load(x)
