# Call the library's own kernel.
# Refused
import triton
import triton.language as tl
from flashpath.kernels.vector_add import triton_masked


@triton.jit
def answer(n, x, y, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, 2 * tl.load(x + at, mask=at < n), mask=at < n)
