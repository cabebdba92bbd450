"""Transpose, rung 6: Triton. A program loads a tile, says `tl.trans`, and stores it.

maths    out[c, r] = x[r, c]
layout   x: (rows, cols), out: (cols, rows), contiguous. A program takes a tile of TILE × TILE
cost     no FLOPs; at least 2 rows cols sizeof(T) bytes
improves vectorized: a tenth of the lines. `tl.trans` moves nothing: it says that the tile which is stored is
         laid out over the threads in another way than the one which was loaded, and the compiler takes it
         through shared memory, with a swizzle of its own
idea     the same order of tiles as vectorized; widths, registers and barriers are not written down.
"""

import triton
import triton.language as tl


@triton.jit
def transpose_kernel(x_ptr, out_ptr, rows, cols, GROUP: tl.constexpr, TILE: tl.constexpr):
    across = tl.cdiv(cols, TILE)
    down = tl.cdiv(rows, TILE)
    program = tl.program_id(0)
    first = program // (GROUP * across) * GROUP
    height = min(GROUP, down - first)
    place = program % (GROUP * across)
    # 64 bits: a row times the length of a row passes 2^31 for tensors of more elements.
    r = ((first + place % height) * TILE).to(tl.int64) + tl.arange(0, TILE)  # (TILE)
    c = (place // height * TILE).to(tl.int64) + tl.arange(0, TILE)
    tile = tl.load(x_ptr + r[:, None] * cols + c[None, :], mask=(r < rows)[:, None] & (c < cols)[None, :])
    tl.store(
        out_ptr + c[:, None] * rows + r[None, :],
        tl.trans(tile),
        mask=(c < cols)[:, None] & (r < rows)[None, :],
    )
