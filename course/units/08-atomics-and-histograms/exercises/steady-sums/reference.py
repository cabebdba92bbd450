"""Sums and counts by key, in whole units of 2^-16: additions of integers, whose order does not matter."""

import numpy as np


def reference(keys, x, sums, counts):
    units = np.rint(x * 65536).astype(np.int64)
    sums, counts = sums.astype(np.int64), counts.astype(np.int64)
    np.add.at(sums, keys.astype(int), units)
    np.add.at(counts, keys.astype(int), 1)
    return {"sums": sums, "counts": counts}
