import numpy as np


def reference(m, n, itemsize, limit):
    side, step, warps, stages = (np.array(each) for each in ((16, 32, 64, 128, 256), (32, 64), (2, 4, 8), (2, 3, 4)))
    table = np.stack(np.meshgrid(side, side, step, warps, stages, indexing="ij"), -1).reshape(-1, 5)
    bm, bn, bk, w, s = table.T
    a_thread = bm * bn / (32 * w)
    good = ((s - 1) * (bm * bk + bk * bn) * itemsize <= limit) & (a_thread >= 4) & (a_thread <= 128)
    good &= ((bm == 16) | (bm < 2 * m)) & ((bn == 16) | (bn < 2 * n))
    table = table[good]
    bm, bn = table[:, 0], table[:, 1]
    return table, int(np.argmin(np.ceil(m / bm) * np.ceil(n / bn) * (bm + bn)))
