# Bring a Python function instead of a kernel.
# BuildFailed
import triton
import triton.language as tl


def answer(n, x, y, BLOCK: tl.constexpr):
    return 2 * x
