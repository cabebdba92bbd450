import numpy as np


def reference(m, n, k, first, programs, a, b, c):
    """The tiles of those programs are the product, all others are as they were."""
    side, group = 32, 4
    tiles_m, tiles_n = -(-m // side), -(-n // side)
    order = [
        (row, column)
        for left in range(0, tiles_n, group)
        for row in range(tiles_m)
        for column in range(left, min(left + group, tiles_n))
    ]
    product, out = a @ b, np.array(c)
    for row, column in order[first : first + programs]:
        tile = np.s_[row * side : (row + 1) * side, column * side : (column + 1) * side]
        out[tile] = product[tile]
    return out
