"""The weights of rows of scores, and the logarithm of their sum, by powers of 2."""

import math

import numpy as np


def weights(s, scale):
    """s: (rows, keys), scores before the scale. Returns p, (rows, keys), relative to the row's maximum, and lse, (rows).

    lse is the natural logarithm of the sum of e^(scale * s).
    """
    c = scale  # TODO: what makes a power of 2 of it?
    m = s.max(1)
    p = np.exp2(s * c)  # TODO: this overflows where scores are large
    return p, m + np.log2(p.sum(1))  # TODO: the natural logarithm; m is a score before the scale
