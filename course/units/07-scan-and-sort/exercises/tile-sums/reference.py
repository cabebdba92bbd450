"""Running sums that begin anew every 256 elements, and the last one of each tile."""

import numpy as np


def reference(n, x):
    tiles = -(-n // 256)
    rows = np.zeros(tiles * 256)
    rows[:n] = x
    sums = np.cumsum(rows.reshape(tiles, 256), 1)
    return {"out": sums.ravel()[:n], "totals": sums[:, 255]}
