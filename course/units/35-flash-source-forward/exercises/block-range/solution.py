"""What each block of scores needs under a window: nothing, the products alone, or a mask as well."""

import numpy as np


def kinds(queries, keys, rows, columns, left, right):
    """Returns, for each block of queries and each block of keys: 0 skipped, 1 computed without a mask, 2 with one.

    Query i stands at key i + keys - queries, and sees left keys before that one and right after it. A block is skipped where
    no pair of an existing query and an existing key is visible, and needs no mask where all of its columns are visible
    to all of its existing rows.
    """
    shift = keys - queries
    kind = np.zeros((-(-queries // rows), -(-keys // columns)), dtype=np.int64)
    for block in range(kind.shape[0]):
        i0 = block * rows
        i1 = min(i0 + rows, queries)
        first, last = i0 + shift - left, min(keys, i1 + shift + right)
        for number in range(kind.shape[1]):
            j0 = number * columns
            j1 = j0 + columns
            if first < j1 and j0 < last:
                plain = i1 - 1 + shift - left <= j0 and j1 <= min(keys, i0 + shift + right + 1)
                kind[block, number] = 1 if plain else 2
    return kind
