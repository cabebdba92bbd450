"""How far a number can lie from what its code gives back, for int8 and fp8 and scales of different reach."""

import numpy as np


def bounds(x, g):
    """Returns the most that |x - code * scale| can be, when codes are rounded to nearest: four arrays.

    x: (rows, columns), with a number other than 0 in every group; g divides the number of columns.
    tensor: (1), int8 with one scale; row: (rows), int8 with a scale for each row; group: (rows, columns / g), int8 with a
    scale for each g neighbours; fp8: (rows, columns), e4m3 with a scale for each row, for each element.
    """
    rows, columns = x.shape
    size = np.abs(x)
    group = size.reshape(rows, columns // g, g).max(2) / 127 / 2
    scale = size.max(1, keepdims=True) / 448
    exponent = np.floor(np.log2(np.maximum(size / scale, 2.0**-6)))
    fp8 = scale * 2.0 ** (exponent - 3) / 2
    return size.max().reshape(1) / 127 / 2, size.max(1) / 127 / 2, group, fp8
