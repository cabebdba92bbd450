"""out = 2 x. x, out: (rows, cols). One program takes a tile of ROWS × COLS elements."""

import triton
import triton.language as tl


@triton.jit
def double(x_ptr, out_ptr, rows, cols, ROWS: tl.constexpr, COLS: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.program_id(1) * COLS + tl.arange(0, COLS)
    offsets = row[:, None] * cols + column[None, :]
    inside = (row[:, None] < rows) & (column[None, :] < cols)
    tl.store(out_ptr + offsets, 2 * tl.load(x_ptr + offsets, mask=inside), mask=inside)
