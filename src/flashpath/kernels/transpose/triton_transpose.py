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
def transpose_kernel(x_ptr, out_ptr, rows, cols, TILE: tl.constexpr):
    down = tl.cdiv(rows, TILE)
    # 64 bits: a row times the length of a row passes 2^31 for tensors of more elements.
    r = (tl.program_id(0) % down).to(tl.int64) * TILE + tl.arange(0, TILE)  # (TILE)
    c = (tl.program_id(0) // down).to(tl.int64) * TILE + tl.arange(0, TILE)
    r_inside, c_inside = r < rows, c < cols
    tile = tl.load(
        x_ptr + r[:, None] * cols + c[None, :],
        mask=r_inside[:, None] & c_inside[None, :],
        eviction_policy="evict_first",
    )
    tl.store(
        out_ptr + c[:, None] * rows + r[None, :],
        tl.trans(tile),
        mask=c_inside[:, None] & r_inside[None, :],
        eviction_policy="evict_first",
    )
