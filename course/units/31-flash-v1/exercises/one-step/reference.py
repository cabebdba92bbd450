"""Lines 9 to 13 of algorithm 1."""

import numpy as np


def reference(q, k, v, m, l, o, scale):
    s = scale * q @ k.T
    m_new = np.maximum(m, s.max(1, initial=-np.inf))
    before = l * np.exp(m - m_new)
    p = np.exp(s - m_new[:, None])
    l_new = before + p.sum(1)
    return {"m": m_new, "l": l_new, "o": (before[:, None] * o + p @ v) / l_new[:, None]}
