"""The figures of the units, one module for each unit, one function for each figure."""
