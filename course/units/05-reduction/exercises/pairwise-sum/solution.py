"""A sum in pairs, in float32."""

import numpy as np


def pairwise(x):
    """All numbers of the tree that adds up x, an array of float32: x itself, then what each fold leaves of it.

    A fold adds the upper half to the lower one; where the length is odd, the last number of the lower half has no
    partner and stays as it is. x[0..4] becomes x[0] + x[3], x[1] + x[4], x[2]. The last fold leaves the sum alone.
    """
    levels = [x]
    while x.size > 1:
        if x.size % 2 == 1:
            x = np.append(x, np.float32(0))
        half = x.size // 2
        x = x[:half] + x[half:]
        levels.append(x)
    return np.concatenate(levels)


def one_after_the_other(x):
    """The same sum in a loop, for comparison: `python` and the name of this file show both errors."""
    total = np.float32(0)
    for value in x:
        total = total + value
    return total


if __name__ == "__main__":
    x = (100 + np.random.default_rng(1).standard_normal(50_000)).astype(np.float32)
    truth = x.astype(np.float64).sum()
    print("loop:", abs(one_after_the_other(x) - truth), "pairs:", abs(pairwise(x)[-1] - truth))
