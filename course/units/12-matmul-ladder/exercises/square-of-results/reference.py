import numpy as np


def reference(m, n, k, a, b):
    best = np.full((m, n), np.inf)
    for p in range(k):
        np.minimum(best, a[p][:, None] + b[p][None, :], out=best)
    return best
