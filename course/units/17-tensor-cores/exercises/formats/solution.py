def limits(exponent, mantissa):
    """Returns the largest number of the format, its smallest normal one, and how far it can count by ones."""
    bias = 2 ** (exponent - 1) - 1
    return (2 - 2.0**-mantissa) * 2.0**bias, 2.0 ** (1 - bias), 2 ** (mantissa + 1)
