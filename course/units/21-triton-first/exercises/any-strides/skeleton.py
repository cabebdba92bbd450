"""out[r, c] = x[r, c] for a view x of any strides, as x.contiguous() does it. out: (rows, cols), row by row.

A program for each tile of ROWS × COLS; element (r, c) of x lies r row_stride + c col_stride elements after its first.
"""

import triton
import triton.language as tl


@triton.jit
def contiguous_kernel(x_ptr, out_ptr, rows, cols, row_stride, col_stride, ROWS: tl.constexpr, COLS: tl.constexpr):
    row = tl.program_id(0) * ROWS  # TODO: the ROWS rows of this program, not the first alone
    column = tl.program_id(1) * COLS + tl.arange(0, COLS)  # (COLS)
    inside = column < cols  # TODO: a mask for the whole tile
    x = tl.load(x_ptr + row * cols + column, mask=inside)  # TODO: x may have any strides
    tl.store(out_ptr + row * cols + column, x, mask=inside)
