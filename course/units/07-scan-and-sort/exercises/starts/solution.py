"""Sequences of different lengths, one after the other in one array."""

import numpy as np


def starts(lengths):
    """Returns where each of the n sequences starts, and where the last one ends: n + 1 whole numbers.

    Lengths 3, 0, 2 give places 0, 3, 3, 5: sequence i lies at places[i] to places[i + 1] - 1.
    """
    return np.concatenate(([0], np.cumsum(lengths)))
