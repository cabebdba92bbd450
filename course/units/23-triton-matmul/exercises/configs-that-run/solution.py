import numpy as np

SIDES, STEPS, WARPS, STAGES = (16, 32, 64, 128, 256), (32, 64), (2, 4, 8), (2, 3, 4)
ALL = [(m, n, k, w, s) for m in SIDES for n in SIDES for k in STEPS for w in WARPS for s in STAGES]


def configurations(m, n, itemsize, limit):
    """Returns the configurations that are worth trying, a row for each, and the number of the row to try first."""
    kept = []
    for block_m, block_n, block_k, warps, stages in ALL:
        shared = (stages - 1) * (block_m + block_n) * block_k * itemsize
        sums = block_m * block_n // (32 * warps)
        wasteful = (block_m > 16 and block_m >= 2 * m) or (block_n > 16 and block_n >= 2 * n)
        if shared <= limit and 4 <= sums <= 128 and not wasteful:
            kept.append((block_m, block_n, block_k, warps, stages))
    loads = [-(-m // block_m) * -(-n // block_n) * (block_m + block_n) for block_m, block_n, *_ in kept]
    return np.array(kept), loads.index(min(loads))
