"""A softmax in four launches, as separate operations would do it. x, e, out: (rows, cols); m, total: (rows)."""

import triton
import triton.language as tl


@triton.jit
def row_max(x_ptr, m_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * cols + column, mask=column < cols, other=float("-inf"))
    tl.store(m_ptr + row, tl.max(x, 0))


@triton.jit
def exponentials(x_ptr, m_ptr, e_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    inside = column < cols
    x = tl.load(x_ptr + row * cols + column, mask=inside)
    tl.store(e_ptr + row * cols + column, tl.exp(x - tl.load(m_ptr + row)), mask=inside)


@triton.jit
def row_sum(e_ptr, total_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    e = tl.load(e_ptr + row * cols + column, mask=column < cols, other=0.0)
    tl.store(total_ptr + row, tl.sum(e, 0))


@triton.jit
def quotients(e_ptr, total_ptr, out_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    inside = column < cols
    e = tl.load(e_ptr + row * cols + column, mask=inside)
    tl.store(out_ptr + row * cols + column, e / tl.load(total_ptr + row), mask=inside)
