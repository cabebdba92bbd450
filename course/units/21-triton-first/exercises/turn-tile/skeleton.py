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
    x = tl.load(source)  # TODO: x may end within the tile
    # TODO: the same for the tile of out, and store x there, turned (tl.trans)
