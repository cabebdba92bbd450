"""out = x + y with broadcasting. out: (batch, rows, cols), row by row; x and y: views of any strides.

A stride of 0 repeats an axis. Grid: (column tiles, row tiles, batch), tiles of ROWS × COLS.
"""

import triton
import triton.language as tl


@triton.jit
def at(ptr, batch, row, column, batch_stride, row_stride, col_stride):
    """The addresses of a tile: (ROWS, COLS)."""
    return ptr + batch * batch_stride + row[:, None] * row_stride + column[None, :] * col_stride


@triton.jit
def add_kernel(
    x_ptr,
    y_ptr,
    out_ptr,
    rows,
    cols,
    x_batch_stride,
    x_row_stride,
    x_col_stride,
    y_batch_stride,
    y_row_stride,
    y_col_stride,
    ROWS: tl.constexpr,
    COLS: tl.constexpr,
):
    column = tl.program_id(0) * COLS + tl.arange(0, COLS)  # (COLS)
    row = tl.program_id(1) * ROWS + tl.arange(0, ROWS)  # (ROWS)
    batch = tl.program_id(2)
    inside = (row[:, None] < rows) & (column[None, :] < cols)  # (ROWS, COLS)
    x = tl.load(at(x_ptr, batch, row, column, x_batch_stride, x_row_stride, x_col_stride), mask=inside)
    y = tl.load(at(y_ptr, batch, row, column, y_batch_stride, y_row_stride, y_col_stride), mask=inside)
    tl.store(at(out_ptr, batch, row, column, rows * cols, cols, 1), x + y, mask=inside)
