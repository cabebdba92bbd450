"""Decoding: a few new queries of each sequence against a long cache of keys and values."""
