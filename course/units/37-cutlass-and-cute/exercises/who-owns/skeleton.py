"""Which thread copies which element of a tile, and as which of its values."""

import numpy as np


def owners(rows, cols, thread_rows, thread_cols, width):
    """Returns two arrays of rows × cols numbers: the thread of each element, and its number there.

    Threads: (thread_rows, thread_cols):(thread_cols, 1). Each copies width columns side by side in a pass;
    the passes that the tile needs follow each other down the rows first, then to the right.
    rows is a multiple of thread_rows, cols of thread_cols * width.
    """
    r, c = np.arange(rows)[:, None], np.arange(cols)
    passes = rows // thread_rows  # from the top of the tile to its bottom
    thread = r * thread_cols + c
    value = r // thread_rows + c // cols + passes
    return thread, value
