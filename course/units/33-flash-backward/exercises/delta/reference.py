"""delta and the exponent of each row, in float64."""

import numpy as np


def reference(o, dout, lse, dlse):
    return {
        "delta": np.einsum("rc,rc->r", o, dout) - dlse,
        "exponent": np.where(np.isneginf(lse), np.inf, lse / np.log(2)),
    }
