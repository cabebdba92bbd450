"""The sum of what stands before each element in its tile of 512."""

import numpy as np


def reference(n, x):
    rows = np.zeros(-(-n // 512) * 512)
    rows[:n] = x
    rows = rows.reshape(-1, 512)
    return (np.cumsum(rows, 1) - rows).ravel()[:n]
