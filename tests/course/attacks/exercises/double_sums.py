# Keep the sums in float64, and round them when all is done.
# wrong
# reduction/pairwise-sum
import numpy as np


def pairwise(x):
    levels = [x]
    x = x.astype("f8")
    while x.size > 1:
        x = np.append(x, [0.0] * (x.size % 2))
        half = x.size // 2
        x = x[:half] + x[half:]
        levels.append(x.astype("f4"))
    return np.concatenate(levels)
