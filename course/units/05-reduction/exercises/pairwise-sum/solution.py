"""A sum in pairs, in float32."""

import numpy as np


def pairwise(x):
    """The sum of x, a NumPy array of float32, as a float32: added in pairs, as the tree of a reduction does it.

    Every addition is one of float32, so that its error can be seen.
    """
    while x.size > 1:
        if x.size % 2 == 1:
            x = np.append(x, np.float32(0))
        half = x.size // 2
        x = x[:half] + x[half:]
    return x[0] if x.size else np.float32(0)
