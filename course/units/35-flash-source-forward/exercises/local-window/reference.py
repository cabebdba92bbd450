"""Attention under a window in float64. A query that sees nothing has 0 and -inf."""

import numpy as np


def reference(q, k, v, scale, left, right):
    queries, keys = len(q), len(k)
    at = np.arange(queries)[:, None] + keys - queries
    key = np.arange(keys)
    s = np.where((key >= at - left) & (key <= at + right), scale * (q @ k.T), -np.inf)
    largest = s.max(1, keepdims=True, initial=-np.inf)
    base = np.where(np.isneginf(largest), 0.0, largest)
    p = np.exp(s - base)
    total = p.sum(1, keepdims=True)
    return p @ v / np.where(total == 0, 1.0, total), (base + np.log(total))[:, 0]
