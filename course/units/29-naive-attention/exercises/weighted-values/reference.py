"""The weighted sum over the keys that are seen, whatever p holds elsewhere."""

import numpy as np


def reference(n, m, p, v):
    return np.where(np.tri(n, m, m - n) > 0, p, 0.0) @ v
