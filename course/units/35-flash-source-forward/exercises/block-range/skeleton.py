"""What each block of scores needs under a window: nothing, the products alone, or a mask as well."""

import numpy as np


def kinds(queries, keys, rows, columns, left, right):
    """Returns, for each block of queries and each block of keys: 0 skipped, 1 computed without a mask, 2 with one.

    Query i stands at key i + keys - queries, and sees left keys before that one and right after it. A block is skipped where
    no pair of an existing query and an existing key is visible, and needs no mask where all of its columns are visible
    to all of its existing rows.
    """
    kind = np.zeros((-(-queries // rows), -(-keys // columns)), dtype=np.int64)
    for block in range(kind.shape[0]):
        for number in range(kind.shape[1]):
            # TODO: which rows and columns does it have, and which keys do these rows see?
            kind[block, number] = 2
    return kind
