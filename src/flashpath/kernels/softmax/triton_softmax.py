"""Softmax, rung 8: Triton. Rows that fit are tiles of one program; longer ones are walked through, online.

maths    m = max x[r, :]; l = Σ e^(x[r, i] - m); out[r, i] = e^(x[r, i] - m) / l
layout   x, out: (rows, n), contiguous
cost     5 rows n FLOPs; at least 2 rows n sizeof(T) bytes
improves resident: a fifth of the lines.
idea     a program loads a (ROWS, BLOCK) tile whose rest is -inf; the compiler keeps it in registers, makes
         the shuffles and barriers of `tl.max` and `tl.sum`, and chooses 16-byte accesses. Rows longer than a
         tile are read twice: first {m, total} for each of BLOCK columns, then the quotients.
"""

import triton
import triton.language as tl

LOG2E = tl.constexpr(1.4426950408889634)


@triton.jit
def softmax_kernel(
    x_ptr,
    out_ptr,
    rows,
    n,
    ROWS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    # 64 bits: row * n passes 2^31 for tensors of more elements.
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)  # (ROWS)
    column = tl.arange(0, BLOCK)  # (BLOCK)
    offsets = row[:, None] * n + column[None, :]  # (ROWS, BLOCK)
    inside = (row[:, None] < rows) & (column[None, :] < n)
    x = tl.load(x_ptr + offsets, mask=inside, other=float("-inf"))
    x = x.to(tl.float32)
    m = tl.max(x, 1)  # (ROWS)
    e = tl.exp2((x - m[:, None]) * LOG2E)
    total = tl.sum(e, 1)
    y = e * (1 / total)[:, None]
    tl.store(out_ptr + offsets, y.to(out_ptr.dtype.element_ty), mask=inside)


@triton.jit
def long_softmax_kernel(x_ptr, out_ptr, rows, n, BLOCK: tl.constexpr):
    column = tl.arange(0, BLOCK).to(tl.int64)  # (BLOCK)
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        at = row.to(tl.int64) * n
        m = tl.full((BLOCK,), float("-inf"), tl.float32)  # (BLOCK)
        total = tl.zeros((BLOCK,), tl.float32)
        for start in range(0, n, BLOCK):
            offsets = start + column
            inside = offsets < n
            x = tl.load(x_ptr + at + offsets, mask=inside, other=float("-inf"))
            x = x.to(tl.float32)
            larger = tl.maximum(m, x)
            # Where nothing but -inf was seen, 0 is subtracted: the sum is 0.
            shift = tl.where(larger == float("-inf"), 0.0, larger)
            total *= tl.exp2((m - shift) * LOG2E)
            total += tl.exp2((x - shift) * LOG2E)
            m = larger
        of_row = tl.max(m, 0)
        scale = 1 / tl.sum(total * tl.exp2((m - of_row) * LOG2E), 0)
        for start in range(0, n, BLOCK):
            offsets = start + column
            x = tl.load(x_ptr + at + offsets, mask=offsets < n, other=0).to(tl.float32)
            y = tl.exp2((x - of_row) * LOG2E) * scale
            tl.store(out_ptr + at + offsets, y.to(out_ptr.dtype.element_ty), mask=offsets < n)
