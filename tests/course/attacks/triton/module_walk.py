# Reach the operating system through a module that has imported it.
# Refused
import triton
import triton.language as tl

triton.knobs.os.system("true")


@triton.jit
def answer(n, x, y, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, 2 * tl.load(x + at, mask=at < n), mask=at < n)
