"""The weights from lse, in float64; a query that saw nothing has none."""

import numpy as np


def reference(q, k, lse, scale):
    s = scale * q @ k.T
    empty = np.isneginf(lse)[:, None]
    return np.where(empty, 0.0, np.exp(s - np.where(empty, 0.0, lse[:, None])))
