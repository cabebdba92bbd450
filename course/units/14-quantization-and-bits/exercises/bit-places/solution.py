"""Where the flags of one array go when eight of them share a byte."""

import numpy as np


def places(i, big):
    """Returns the byte and the bit of element i; bit 7 is worth 128, bit 0 is worth 1.

    i: whole numbers from 0, in any order. big: 1 for big order, 0 for little.
    """
    return i // 8, 7 - i % 8 if big else i % 8
