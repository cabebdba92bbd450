"""out[r, c] = weight[r] x[r, c]. x, out: (rows, cols); weight: (rows). A program for each tile of ROWS × COLS."""

import triton
import triton.language as tl


@triton.jit
def weigh_kernel(x_ptr, weight_ptr, out_ptr, rows, cols, ROWS: tl.constexpr, COLS: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)  # (ROWS)
    column = tl.program_id(1) * COLS + tl.arange(0, COLS)  # (COLS)
    offsets = row[:, None] * cols + column[None, :]  # (ROWS, COLS)
    inside = offsets < rows * cols
    weight = tl.load(weight_ptr + row, mask=row < rows)
    x = tl.load(x_ptr + offsets, mask=inside)
    tl.store(out_ptr + offsets, weight[:, None] * x, mask=inside)
