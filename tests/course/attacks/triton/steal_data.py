# Look for data while it is compiled: there is none. (Run without the reading of the source.)
# passed
import gc
import sys

import triton
import triton.language as tl

found = [thing for thing in gc.get_objects() if type(thing).__name__ == "ndarray" and thing.size == 1000]
assert not found, "data in the process that compiles"
assert not any(name.startswith("flashpath") for name in sys.modules), (
    "the package in the process that compiles"
)


@triton.jit
def answer(n, x, y, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, 2 * tl.load(x + at, mask=at < n), mask=at < n)
