# Return more than anybody can hold.
# Raised Crashed
import numpy as np


def answer(x, *more):
    return tuple(np.broadcast_to(np.zeros(1), (1 << 40,)) for _ in range(64))
