"""Fewer bits for the same numbers: booleans to bits, rows of floats to int8 and fp8 with a scale each."""
