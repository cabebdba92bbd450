"""A block of keys becomes part of the state of each row."""

import numpy as np


def absorb(m, l, o, s, v):
    """The state of all keys up to and with this block.

    m: (rows), l: (rows) and o: (rows, d) are the state so far: the largest score, Σ e^(s - m) and Σ e^(s - m) v. A row
    that has seen nothing has m = -inf, and anything in l and o. s: (rows, keys) are the block's scores, -inf where a key
    is masked; v: (keys, d) are its values.
    """
    m_new = np.maximum(m, s.max(1))
    base = np.where(np.isinf(m_new), 0, m_new)
    alpha = np.exp(m - base)
    p = np.exp(s - base[:, None])
    l = l * alpha + p.sum(1)
    o = o * alpha[:, None] + p @ v
    return m_new, l, o
