# The same in the second of two values, after a right one.
# wrong
# shared-memory/count-passes
import numpy as np


def banks_and_passes(words):
    return np.asarray(words) % 32, np.bool_(True)
