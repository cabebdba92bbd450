"""Histogram: how many values fall into each of many equal bins."""
