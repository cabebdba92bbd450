# Never come to an end while it is compiled.
# TimedOut
import triton
import triton.language as tl


@triton.jit
def answer(n, x, y, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + at, mask=at < n)
    for i in tl.static_range(1000000):
        value = value * 2 + i
    tl.store(y + at, value, mask=at < n)
