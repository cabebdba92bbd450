"""A stable sort of each row by expert, and how many tokens stand before each expert's."""

import numpy as np


def reference(expert):
    order = np.argsort(expert, axis=1, kind="stable")
    starts = (expert[:, :, None] < np.arange(8)).sum(1)
    return {"order": order, "starts": starts}
