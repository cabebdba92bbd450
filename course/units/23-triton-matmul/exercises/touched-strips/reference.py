import numpy as np


def reference(tiles_m, tiles_n, first, wave):
    def strips(group):
        order = [
            (row, column)
            for top in range(0, tiles_m, group)
            for column in range(tiles_n)
            for row in range(top, min(top + group, tiles_m))
        ][first : first + wave]
        if not order:
            return 0
        rows, columns = np.array(order).T
        return len(np.unique(rows)) + len(np.unique(columns))

    counts = [strips(group) for group in range(1, tiles_m + 1)]
    best = int(np.argmin(counts))
    return counts[0], best + 1, counts[best]
