# Read and write beyond the arrays.
# out-of-bounds
import triton
import triton.language as tl


@triton.jit
def answer(n, x, y, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, 2 * tl.load(x + at))
