"""Numerators and denominators of all parts are added, relative to the largest one."""

import numpy as np


def reference(out, lse):
    largest = lse.max(1)
    base = np.where(np.isneginf(largest), 0.0, largest)
    weights = np.exp(lse - base[:, None])
    total = weights.sum(1)
    with np.errstate(divide="ignore"):
        together = base + np.log(total)
    return np.einsum("rp,rpd->rd", weights, out) / np.where(total == 0, 1.0, total)[:, None], together
