import numpy as np


def reference(a, b, c, a_stride, b_stride, c_stride):
    modes = [(n, d) for n, d in ((a, a_stride), (b, b_stride), (c, c_stride)) if n > 1]
    done = [(1, 0)]
    for n, d in modes:
        last_n, last_d = done[-1]
        if last_n == 1:
            done[-1] = (n, d)
        elif last_n * last_d == d:
            done[-1] = (last_n * n, last_d)
        else:
            done.append((n, d))
    return np.array([n for n, _ in done]), np.array([d for _, d in done])
