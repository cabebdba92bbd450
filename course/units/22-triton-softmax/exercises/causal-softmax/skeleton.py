"""Softmax of scaled scores in which row r sees the columns 0 to r: what stands between the two products of attention.

A program for each row of s: (n, n), fp16. out: (n, n), fp16, with zeros where nothing is seen. n <= BLOCK.
"""

import triton
import triton.language as tl


@triton.jit
def causal_softmax_kernel(s_ptr, out_ptr, n, scale, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)  # (BLOCK)
    inside = column < n
    # TODO: this is a softmax over the whole row, without the scale.
    z = tl.load(s_ptr + row * n + column, mask=inside, other=float("-inf")).to(tl.float32)
    e = tl.exp(z - tl.max(z, 0))
    y = e / tl.sum(e, 0)
    tl.store(out_ptr + row * n + column, y.to(tl.float16), mask=inside)
