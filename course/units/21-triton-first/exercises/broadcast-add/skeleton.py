"""out = x + y with broadcasting. out: (batch, rows, cols), row by row; x and y: views of any strides.

A stride of 0 repeats an axis. Grid: (column tiles, row tiles, batch), tiles of ROWS × COLS.
"""

import triton
import triton.language as tl


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
    # TODO: everything. Which tile of which matrix of the batch is this program's? A helper with @triton.jit may
    # compute the addresses of x, y and out, which differ in their strides alone.
    pass
