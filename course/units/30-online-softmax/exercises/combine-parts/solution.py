"""Parts of attention, each of other keys, become one."""

import numpy as np


def combine(out, lse):
    """The attention of all keys, from that of each part.

    out: (rows, parts, d) is the finished output of each part, lse: (rows, parts) its log Σ e^s. A part that sees no key
    has lse = -inf, and anything in out. Returns out: (rows, d) and lse: (rows); of a row that sees nothing at all, 0 and
    -inf.
    """
    largest = lse.max(1)
    base = np.where(np.isinf(largest), 0.0, largest)
    w = np.exp(lse - base[:, None])
    l = w.sum(1)
    together = (w[:, :, None] * out).sum(1) / np.where(l == 0, 1, l)[:, None]
    with np.errstate(divide="ignore"):  # log 0 is the -inf that is wanted
        return together, base + np.log(l)
