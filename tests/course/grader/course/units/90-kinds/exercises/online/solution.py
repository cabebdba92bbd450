import numpy as np


def update(m, l, s):
    m_new = max(m, float(s.max()))
    return m_new, l * np.exp(m - m_new) + np.exp(s - m_new).sum()
