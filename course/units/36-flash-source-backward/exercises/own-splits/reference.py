"""The sums of dS K, of each split the tiles of keys that are its own."""

import numpy as np


def reference(ds, k, accum, queries, keys, heads, kv_heads):
    sums = accum.copy()
    splits = len(accum)
    for tile in range(-(-keys // 32)):
        these = slice(32 * tile, 32 * tile + 32)
        for head in range(heads):
            of_k = k[these, head // (heads // kv_heads)]
            sums[tile % splits, :queries, head] += ds[head][:, these] @ of_k
    return sums
