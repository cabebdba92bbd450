"""The tree of a sum in pairs, every addition rounded to float32: what is expected bit by bit."""

import numpy as np


def reference(x):
    level = x.astype(np.float32)
    levels = [level]
    while level.size > 1:
        half = -(-level.size // 2)
        upper = level[half:]
        level = level[:half].copy()
        level[: upper.size] += upper
        levels.append(level)
    return np.concatenate(levels)
