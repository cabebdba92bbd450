"""A stable sort of each row, and where each number came from."""

import numpy as np


def reference(x):
    index = np.argsort(x, axis=1, kind="stable")
    return {"out": np.take_along_axis(x, index, 1), "index": index}
