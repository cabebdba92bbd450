"""Every scalar instruction against models that know nothing of the engine: NumPy, integers, fractions."""
