"""The weights of rows of scores, and the logarithm of their sum, by powers of 2."""

import math

import numpy as np


def weights(s, scale):
    """s: (rows, keys), scores before the scale. Returns p, (rows, keys), relative to the row's maximum, and lse, (rows).

    lse is the natural logarithm of the sum of e^(scale * s).
    """
    c = scale * math.log2(math.e)
    m = s.max(1)
    p = np.exp2(s * c - (m * c)[:, None])
    lse = scale * m + np.log(p.sum(1))
    return p, lse
