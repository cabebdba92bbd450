"""Which lane holds which element of the fragments of mma.sync, for elements of 8, 16 or 32 bits."""

import numpy as np


def holders(bits, m, n, k):
    """Returns the lane and the value of A[m, k], then of B[k, n], then of D[m, n].

    The instruction multiplies 16 × K by K × 8 with K = 256 // bits; A and B have elements of `bits` bits, D of 32.
    """
    per = 32 // bits  # elements in a register
    column = np.asarray(k) // per  # of registers, 0 to 7
    a_lane = m % 8 * 4 + column % 4
    a_value = (m // 8 + column // 4 * 2) * per + k % per
    b_lane = n * 4 + column % 4
    b_value = column // 4 * per + k % per
    d_lane = m % 8 * 4 + n // 2
    d_value = m // 8 * 2 + n % 2
    return a_lane, a_value, b_lane, b_value, d_lane, d_value
