# Catch the error and fall back to torch.
# Refused
import triton
import triton.language as tl

try:
    import torch
except ImportError:
    torch = None


@triton.jit
def answer(n, x, y, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, 2 * tl.load(x + at, mask=at < n), mask=at < n)
