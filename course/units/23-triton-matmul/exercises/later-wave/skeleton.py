"""Some programs of a product, in grouped order: c = a b for the tiles number first, first + 1, …

a: (m, k), b: (k, n), c: (m, n), float16. Tiles are numbered in strips of GROUP columns of tiles: through a row of the
strip, then its next row, and after the last row the next strip. The last strip may be narrower.
"""

import triton
import triton.language as tl


@triton.jit
def wave(
    a_ptr,
    b_ptr,
    c_ptr,
    m,
    n,
    k,
    first,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP: tl.constexpr,
):
    # TODO: the number of this program's tile, then the row and the column of the tile, strip by strip
    tile_m = first + tl.program_id(0)
    tile_n = 0
    rows = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for k0 in range(0, k, BLOCK_K):
        # TODO: a tile of a, a tile of b, with masks; their product
        pass
    c_mask = (rows < m)[:, None] & (columns < n)[None, :]
    tl.store(c_ptr + rows[:, None] * n + columns[None, :], total.to(tl.float16), mask=c_mask)
