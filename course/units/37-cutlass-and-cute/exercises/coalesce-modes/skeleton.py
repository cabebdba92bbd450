"""The same indices with as few modes as possible."""

import numpy as np


def coalesce(a, b, c, a_stride, b_stride, c_stride):
    """Returns the shape and the stride of (a, b, c):(a_stride, b_stride, c_stride), coalesced, as two arrays.

    The result gives the same index for each single number, and has as few modes as this allows: 1:0 if there
    is only one element.
    """
    shape, strides = [], []
    for extent, extent_stride in ((a, a_stride), (b, b_stride), (c, c_stride)):
        shape.append(extent)  # TODO: is this mode needed, or does it continue the last one?
        strides.append(extent_stride)
    return np.array(shape), np.array(strides)
