"""Parts of attention, each of other keys, become one."""

import numpy as np


def combine(out, lse):
    """The attention of all keys, from that of each part.

    out: (rows, parts, d) is the finished output of each part, lse: (rows, parts) its log Σ e^s. A part that sees no key
    has lse = -inf, and anything in out. Returns out: (rows, d) and lse: (rows); of a row that sees nothing at all, 0 and
    -inf.
    """
    # TODO: the parts do not weigh the same.
    return out.mean(1), lse.max(1)
