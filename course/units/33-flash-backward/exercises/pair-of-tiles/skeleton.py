"""The part that one pair of tiles has in the gradients of attention."""

import numpy as np


def tile_gradients(q, k, v, dout, lse, delta, first_query, first_key, scale):
    """q: (queries, d), dout: (queries, dv), lse, delta: (queries); k: (keys, d), v: (keys, dv): a tile of each.

    The tile of queries begins at first_query of the sequence, that of keys at first_key; under a causal mask a query sees
    the keys up to its own place. lse, natural logarithms, and delta are of the whole row. Returns what this pair of tiles
    adds to dq, (queries, d), dk, (keys, d), and dv, (keys, dv).
    """
    s = scale * q @ k.T  # (queries, keys)
    # TODO: the weights, under the mask; dp and ds; three products
    dq = np.zeros_like(q)
    dk = np.zeros_like(k)
    dv = np.zeros_like(v)
    return dq, dk, dv
