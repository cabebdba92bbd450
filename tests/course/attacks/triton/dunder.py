# Reach the interpreter through the insides of a value.
# Refused
import triton
import triton.language as tl

everything = ().__class__.__base__.__subclasses__()


@triton.jit
def answer(n, x, y, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, 2 * tl.load(x + at, mask=at < n), mask=at < n)
