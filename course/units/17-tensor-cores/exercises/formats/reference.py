from fractions import Fraction


def reference(exponent, mantissa):
    top = 2**exponent - 2  # all ones is for infinity and NaN
    bias = top // 2
    largest = Fraction(2 ** (mantissa + 1) - 1, 2**mantissa) * Fraction(2) ** (top - bias)
    smallest = Fraction(2) ** (1 - bias)
    return float(largest), float(smallest), 2 * 2**mantissa
