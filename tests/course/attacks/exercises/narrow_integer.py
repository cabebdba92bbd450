# Return a count modulo 256 in a byte, in the hope that what is expected is cut to a byte as well.
# wrong
# coalescing/count-sectors
import numpy as np


def sectors(first, stride, size):
    return np.int8(-32) if stride >= 32 else np.uint8(len({(first + k * stride) // 32 for k in range(32)}))
