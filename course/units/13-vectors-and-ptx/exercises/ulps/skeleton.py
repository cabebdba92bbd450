"""How far results are off, in units in the last place."""

import numpy as np


def ulps(got, exact):
    """Returns |got - exact| in units in the last place of float32 at `exact`, one number for each element.

    A float32 between 2^e and 2^(e+1) has its last place at 2^(e-23); below 2^-126 it stays at 2^-149.
    """
    return np.abs(got - exact) / 2.0**-23  # right for exact results from 1 to 2
