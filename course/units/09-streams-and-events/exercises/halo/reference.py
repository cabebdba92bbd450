import numpy as np


def reference(n, first):
    i = np.arange(n)
    x = first + i % 97 * (i % 13)
    padded = np.concatenate([x[:1], x, x[-1:]])
    y = padded[:-2] + 2 * x + padded[2:]
    return {"total": np.sum(y * (i % 7 + 1))}
