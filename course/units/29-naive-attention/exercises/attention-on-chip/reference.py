"""Attention of one head under a causal mask, in float64."""

import numpy as np


def reference(n, scale, q, k, v):
    s = np.where(np.tri(n) > 0, scale * (q @ k.T), -np.inf)
    e = np.exp(s - s.max(1, keepdims=True, initial=-np.inf))
    return e / e.sum(1, keepdims=True) @ v
