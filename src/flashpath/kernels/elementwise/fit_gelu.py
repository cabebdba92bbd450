"""Prints the polynomial of `normal_tail` in activations.cuh; run it with `python -m`.

Φ(-t) = 2^-S(t) with S(t) = -log2 Φ(-t), and S is so smooth that one polynomial does for all t that matter.
An error δ of S makes gelu(±t) wrong by t Φ(-t) ln2 δ: tolerable where Φ(-t) is small, so the fit weighs by
it, with a floor that keeps three digits of the left tail. It is the best in the maximum norm, by Lawson's
weights.
"""

from __future__ import annotations

import math

import numpy as np

DEGREE = 8
END = 6.0  # Φ(-6) is 1e-9: beyond it S only has to stay large
FLOOR = 3e-4


def fit() -> list[float]:
    """The coefficients of t, t², …; that of 1 is 1, since Φ(0) = 1/2."""
    t = (1 - np.cos(np.linspace(0, np.pi, 801))) / 2 * END
    tail = np.array([0.5 * math.erfc(each / math.sqrt(2)) for each in t])
    wanted = -np.log2(tail) - 1
    powers = np.vander(t / END, DEGREE + 1, increasing=True)[:, 1:]  # (points, DEGREE)
    weight = np.maximum(tail, FLOOR)
    lawson = np.ones_like(t)
    found = np.zeros(DEGREE)
    for _ in range(100):
        scaled = np.sqrt(lawson) * weight
        found = np.linalg.lstsq(powers * scaled[:, None], wanted * scaled, rcond=None)[0]
        error = np.abs(powers @ found - wanted) * weight
        lawson *= error / error.max()
        lawson /= lawson.sum()
    return [float(each) for each in found / END ** np.arange(1, DEGREE + 1)]


if __name__ == "__main__":
    for power, coefficient in enumerate(fit(), start=1):
        print(f"t^{power}  {coefficient:.9g}f")
