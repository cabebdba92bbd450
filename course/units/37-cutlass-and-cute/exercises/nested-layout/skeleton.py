"""All indices of a layout whose first mode is nested."""

import numpy as np


def indices(p, q, cols, p_stride, q_stride, col_stride):
    """Returns the indices of ((p, q), cols):((p_stride, q_stride), col_stride), in two orders.

    by_coordinate: an array of p * q rows and cols columns: the index of the coordinate (row, column).
    by_number: an array of p * q * cols numbers: the index of each single number, as CuTe counts.
    """
    rows = np.arange(p * q)
    down = rows * p_stride  # where each row begins
    across = np.arange(cols) * col_stride
    by_coordinate = down[:, None] + across
    by_number = np.arange(p * q * cols)
    return by_coordinate, by_number
