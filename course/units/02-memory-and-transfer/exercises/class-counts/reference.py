import numpy as np


def reference(n, blocks, x):
    """The counts of each class, a row for each class and a column for each thread."""
    threads = 64 * blocks
    counts = np.zeros((4, threads), np.int64)
    np.add.at(counts, (x & 3, np.arange(n) % threads), 1)
    return counts.reshape(-1)
