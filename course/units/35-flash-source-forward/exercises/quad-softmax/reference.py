"""softmax(scale * s) v and lse in float64. A row that sees nothing has 0 and -inf."""

import numpy as np


def reference(s, v, scale):
    s = scale * s
    largest = s.max(1, keepdims=True, initial=-np.inf)
    base = np.where(np.isneginf(largest), 0.0, largest)
    weights = np.exp(s - base)
    total = weights.sum(1, keepdims=True)
    return weights @ v / np.where(total == 0, 1.0, total), (base + np.log(total))[:, 0]
