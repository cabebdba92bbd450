"""Means and sums of squared distances, each by its definition."""

import numpy as np


def _of(parts):
    means = np.array([part.mean() if part.size else 0.0 for part in parts])
    squares = [((part - part.mean()) ** 2).sum() if part.size else 0.0 for part in parts]
    return means, np.array(squares)


def reference(x):
    walked = _of([x[: i + 1] for i in range(len(x))])
    lanes = 32 * max(1, -(-len(x) // 32))
    lanes = 1 << (lanes - 1).bit_length()
    parts = []
    while lanes > 1:
        lanes //= 2
        parts += [x[i::lanes] for i in range(lanes)]
    return *walked, *_of(parts)
