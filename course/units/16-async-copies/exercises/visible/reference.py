import numpy as np


def reference(n, ops):
    groups = np.cumsum(ops == 1) - (ops == 1)  # the number of the group that each operation falls into
    finished = 0  # groups that some wait has seen the end of
    for place in range(n):
        if ops[place] >= 2:
            finished = max(finished, int(np.sum(ops[:place] == 1)) - (int(ops[place]) - 2))
    return int(np.sum((ops == 0) & (groups < finished))), int(np.sum(ops == 1)) - finished
