"""What each pair of a block of queries and a block of keys needs, from the visibility of every single pair."""

import numpy as np


def reference(queries, keys, rows, columns, left, right):
    tiles_m, tiles_n = -(-queries // rows), -(-keys // columns)
    at = np.arange(tiles_m * rows)[:, None] + keys - queries
    key = np.arange(tiles_n * columns)
    sees = (key >= at - left) & (key <= at + right) & (key < keys)
    kind = np.zeros((tiles_m, tiles_n), dtype=np.int64)
    for i in range(tiles_m):
        for j in range(tiles_n):
            tile = sees[i * rows : min((i + 1) * rows, queries), j * columns : (j + 1) * columns]
            kind[i, j] = 1 if tile.all() else 2 if tile.any() else 0
    return kind
