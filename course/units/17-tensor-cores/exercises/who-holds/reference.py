"""The fragments, built by filling each lane's values in turn, and looked up."""

import numpy as np


def reference(bits, m, n, k):
    per, depth = 32 // bits, 256 // bits
    a, b, d = np.zeros((16, depth, 2)), np.zeros((depth, 8, 2)), np.zeros((16, 8, 2))
    for lane in range(32):
        g, t = divmod(lane, 4)
        for register, (row, half) in enumerate([(g, 0), (g + 8, 0), (g, 1), (g + 8, 1)]):
            for e in range(per):
                a[row, (half * 4 + t) * per + e] = lane, register * per + e
        for half in (0, 1):
            for e in range(per):
                b[(half * 4 + t) * per + e, g] = lane, half * per + e
        for value, (row, column) in enumerate([(g, 2 * t), (g, 2 * t + 1), (g + 8, 2 * t), (g + 8, 2 * t + 1)]):
            d[row, column] = lane, value
    m, n, k = (np.asarray(each, dtype=int) for each in (m, n, k))
    found = a[m, k], b[k, n], d[m, n]
    return tuple(part[..., side].astype(np.int64) for part in found for side in (0, 1))
