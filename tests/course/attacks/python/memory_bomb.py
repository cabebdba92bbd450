# Take all memory.
# Raised Crashed
import numpy as np


def answer(x, *more):
    kept = []
    for _ in range(1000):
        kept.append(np.ones(1 << 24))
    return 1.0
