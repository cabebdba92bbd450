"""Sorting in rising order, of keys alone or with the indices they came from."""
