"""out[r, c] = x[r, c] for a view x of any strides, as x.contiguous() does it. out: (rows, cols), row by row.

A program for each tile of ROWS × COLS; element (r, c) of x lies r row_stride + c col_stride elements after its first.
"""

import triton
import triton.language as tl


@triton.jit
def contiguous_kernel(x_ptr, out_ptr, rows, cols, row_stride, col_stride, ROWS: tl.constexpr, COLS: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)  # (ROWS)
    column = tl.program_id(1) * COLS + tl.arange(0, COLS)  # (COLS)
    inside = (row[:, None] < rows) & (column[None, :] < cols)  # (ROWS, COLS)
    x = tl.load(x_ptr + row[:, None] * row_stride + column[None, :] * col_stride, mask=inside)
    tl.store(out_ptr + row[:, None] * cols + column[None, :], x, mask=inside)
