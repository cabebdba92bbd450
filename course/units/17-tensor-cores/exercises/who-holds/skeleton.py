"""Which lane holds which element of the fragments of mma.sync, for elements of 8, 16 or 32 bits."""

import numpy as np


def holders(bits, m, n, k):
    """Returns the lane and the value of A[m, k], then of B[k, n], then of D[m, n].

    The instruction multiplies 16 × K by K × 8 with K = 256 // bits; A and B have elements of `bits` bits, D of 32.
    """
    # TODO: these lanes and values are right in the upper left corner of each matrix, and nowhere else.
    a_lane = m * 4
    b_lane = n * 4
    d_lane = m * 4
    value = np.zeros_like(m)
    return a_lane, value, b_lane, value, d_lane, value
