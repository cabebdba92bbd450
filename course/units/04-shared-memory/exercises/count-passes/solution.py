"""In which banks do the lanes of a warp read, and in how many passes?"""

import numpy as np


def banks_and_passes(words):
    """The bank of each lane, and the number of passes in which the whole access is served.

    words: a NumPy array of whole numbers, one for each lane that takes part; lane k reads word words[k] of shared
    memory, 4 bytes. Several lanes may read the same word.
    """
    banks = words % 32
    different = np.unique(words)  # lanes that want the same word are served together
    passes = np.bincount(different % 32).max()
    return banks, passes
