"""The update rule, row by row."""

import numpy as np


def reference(m, l, o, s, v):
    m_new = np.maximum(m, s.max(1))
    base = np.where(np.isneginf(m_new), 0.0, m_new)
    alpha = np.exp(m - base)
    p = np.exp(s - base[:, None])
    return m_new, alpha * l + p.sum(1), alpha[:, None] * o + p @ v
