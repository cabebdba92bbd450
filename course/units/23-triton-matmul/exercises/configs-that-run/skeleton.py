import numpy as np

SIDES, STEPS, WARPS, STAGES = (16, 32, 64, 128, 256), (32, 64), (2, 4, 8), (2, 3, 4)
ALL = [(m, n, k, w, s) for m in SIDES for n in SIDES for k in STEPS for w in WARPS for s in STAGES]


def configurations(m, n, itemsize, limit):
    """Returns the configurations that are worth trying, a row for each, and the number of the row to try first."""
    kept = []
    for block_m, block_n, block_k, warps, stages in ALL:
        # TODO: leave out what does not fit, what spills or has idle warps, and what wastes half of its work
        kept.append((block_m, block_n, block_k, warps, stages))
    # TODO: the first of those whose programs load the least
    return np.array(kept), 0
