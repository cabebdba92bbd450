"""Two parts of a softmax become one."""

import numpy as np


def merge(m1, l1, m2, l2):
    """The state of two parts of a row together.

    Of a part with elements s the state is m = max(s) and l = Σ e^(s - m). All four arguments are NumPy arrays of one
    shape, an element for each row. Returns m and l of both parts together, without seeing s.
    """
    m = np.maximum(m1, m2)
    l = l1 + l2
    return m, l
