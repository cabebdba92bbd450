"""A block of keys becomes part of the state of each row."""

import numpy as np


def absorb(m, l, o, s, v):
    """The state of all keys up to and with this block.

    m: (rows), l: (rows) and o: (rows, d) are the state so far: the largest score, Σ e^(s - m) and Σ e^(s - m) v. A row
    that has seen nothing has m = -inf, and anything in l and o. s: (rows, keys) are the block's scores, -inf where a key
    is masked; v: (keys, d) are its values.
    """
    # TODO: this forgets all that was seen before the block.
    m = s.max(1)
    p = np.exp(s - m[:, None])
    return m, p.sum(1), p @ v
