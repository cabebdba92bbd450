# Return at once, and let a thread fill in the answer later.
# wrong
import threading
import time

import numpy as np


def answer(x, *more):
    result = np.zeros_like(x)

    def later():
        time.sleep(0.05)
        result[:] = 2 * x

    threading.Thread(target=later).start()
    return result
