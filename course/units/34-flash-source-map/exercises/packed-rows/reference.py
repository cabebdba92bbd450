"""Sequences one after the other, and where each begins."""

import numpy as np


def reference(lengths, x, packed):
    starts = np.concatenate([[0], np.cumsum(lengths)])
    out = packed.copy()
    for b, length in enumerate(lengths):
        out[starts[b] : starts[b] + length] = x[b, :length]
    return {"starts": starts, "packed": out}
