"""out[c, r] = x[r, c]. x: (rows, cols), out: (cols, rows), both row by row.

A program for each tile of ROWS × COLS, described by block pointers; no address is computed by hand.
"""

import triton
import triton.language as tl


@triton.jit
def transpose_kernel(x_ptr, out_ptr, rows, cols, ROWS: tl.constexpr, COLS: tl.constexpr):
    row = tl.program_id(0) * ROWS
    column = tl.program_id(1) * COLS
    source = tl.make_block_ptr(
        x_ptr, shape=(rows, cols), strides=(cols, 1), offsets=(row, column), block_shape=(ROWS, COLS), order=(1, 0)
    )
    target = tl.make_block_ptr(
        out_ptr, shape=(cols, rows), strides=(rows, 1), offsets=(column, row), block_shape=(COLS, ROWS), order=(1, 0)
    )
    x = tl.load(source, boundary_check=(0, 1))
    tl.store(target, tl.trans(x), boundary_check=(0, 1))
