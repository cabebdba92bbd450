"""A block of keys becomes part of the state of each row."""

import numpy as np


def absorb(m, l, o, s, v):
    """The state of all keys up to and with this block.

    m: (rows), l: (rows) and o: (rows, d) are the state so far: the largest score, Σ e^(s - m) and Σ e^(s - m) v. A row
    that has seen nothing has m = -inf. s: (rows, keys) are the block's scores, v: (keys, d) its values.
    """
    m_new = np.maximum(m, s.max(1))
    alpha = np.exp(m - m_new)
    p = np.exp(s - m_new[:, None])
    l = l * alpha + p.sum(1)
    o = o * alpha[:, None] + p @ v
    return m_new, l, o
