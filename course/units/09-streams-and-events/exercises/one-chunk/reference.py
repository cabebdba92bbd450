import numpy as np


def reference(n, first, count, x, y):
    if count == 0:
        return y
    padded = np.concatenate([x[:1], x, x[-1:]])
    smooth = padded[:-2] + 2 * x + padded[2:]
    inside = (np.arange(n) >= first) & (np.arange(n) < first + count)
    return np.where(inside, smooth, y)
