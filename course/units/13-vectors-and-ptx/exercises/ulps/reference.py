"""The distance of float32 results from exact ones, in units in the last place of the exact ones."""

import math


def reference(got, exact):
    found = []
    for result, truth in zip(got.ravel(), exact.ravel(), strict=True):
        exponent = math.floor(math.log2(abs(truth)))
        while 2.0**exponent > abs(truth):  # a logarithm may be rounded up to the next power
            exponent -= 1
        while 2.0 ** (exponent + 1) <= abs(truth):
            exponent += 1
        found.append(abs(float(result) - float(truth)) / 2.0 ** (max(exponent, -126) - 23))
    return {"errors": found}
