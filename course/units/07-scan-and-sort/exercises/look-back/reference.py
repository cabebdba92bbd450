"""A scan in one pass, and what it leaves in the words and in the ticket."""

import numpy as np


def reference(n, x, ticket):
    sums = np.cumsum(x)
    tiles = -(-n // 256)
    ends = np.minimum(np.arange(1, tiles + 1) * 256, n) - 1
    return {"words": (2 << 32) | (sums[ends] & 0xFFFFFFFF), "ticket": ticket + tiles, "out": sums}
