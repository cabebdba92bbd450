"""SpMV, rung 4: Triton. A program takes some rows at once, each a line of a tile.

maths    y[r] = Σ val[j] x[col[j]] for row_ptr[r] <= j < row_ptr[r + 1]
layout   CSR: row_ptr (rows + 1), col and val (nnz), row by row; x (cols), y (rows)
cost     2 nnz FLOPs; at least nnz (4 + 4) + 4 (2 rows + cols) bytes for floats and 32-bit indices
improves warp_per_row: the same walk, with a tile of rows and entries in place of lanes, and no shuffle
idea     a tile of ROWS rows and WIDTH entries moves along until the longest of its rows is done; masks keep
         the shorter ones out. As with warps, WIDTH fits the mean length, and one long row holds up its tile.
"""

import triton
import triton.language as tl


@triton.jit
def spmv_kernel(row_ptr, col_ptr, val_ptr, x_ptr, y_ptr, rows, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    SUM: tl.constexpr = tl.float64 if val_ptr.dtype.element_ty == tl.float64 else tl.float32
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)  # (ROWS)
    inside = row < rows
    begin = tl.load(row_ptr + row, mask=inside, other=0)
    end = tl.load(row_ptr + row + 1, mask=inside, other=0)
    length = end - begin
    lane = tl.arange(0, WIDTH)

    acc = tl.zeros((ROWS, WIDTH), SUM)
    for start in range(0, tl.max(length, axis=0), WIDTH):
        j = begin[:, None] + start + lane[None, :]  # (ROWS, WIDTH)
        # By what is left of a row: j itself may pass 2^31 where another row of the tile is long.
        has_entry = lane[None, :] < (length - start)[:, None]
        col = tl.load(col_ptr + j, mask=has_entry, other=0)
        val = tl.load(val_ptr + j, mask=has_entry, other=0).to(SUM)
        # The mask again: an infinite x[0] times the 0 of an entry that is not there would be NaN.
        x = tl.load(x_ptr + col, mask=has_entry, other=0).to(SUM)
        acc += val * x
    y = tl.sum(acc, axis=1)
    tl.store(y_ptr + row, y.to(y_ptr.dtype.element_ty), mask=inside)
