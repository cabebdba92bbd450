"""Which scores lie in a thread's registers after Q Kᵀ."""

import numpy as np


def coordinates(thread, warps, tiles_m, tiles_n, row0, col0):
    """Returns the row and the column of each score of a thread, two arrays of (4, tiles_m, tiles_n) whole numbers.

    The order is that of the accumulator: element of an mma tile, tile downwards, tile to the right. The block's tile of
    scores begins at (row0, col0); its warps stand one below the other, 16 rows each, and begin again where they are through.
    """
    e = np.arange(4)[:, None, None]
    m = np.arange(tiles_m)[:, None]
    n = np.arange(tiles_n)
    # TODO: from the thread and e, m, n to the row and the column.
    row = row0 + thread + e + m
    col = col0 + e + n
    return row + 0 * n, col + 0 * m
