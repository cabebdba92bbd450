"""Every scalar instruction against a model that knows nothing of the engine: NumPy, Python's integers, fractions."""
