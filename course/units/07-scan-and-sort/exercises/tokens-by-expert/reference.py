"""A stable sort of each row by expert, and how many tokens stand before those of each expert and piece."""

import numpy as np


def reference(rows, cols, expert):
    order = np.argsort(expert, axis=1, kind="stable")
    piece = np.arange(cols) // max(-(-cols // 8), 1)
    places = np.zeros((rows, 8, 8), np.int64)
    for e in range(8):
        for p in range(8):
            places[:, e, p] = ((expert < e) | ((expert == e) & (piece < p))).sum(1)
    return {"order": order, "places": places}
