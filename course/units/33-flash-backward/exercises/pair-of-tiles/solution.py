"""The part that one pair of tiles has in the gradients of attention."""

import numpy as np


def tile_gradients(q, k, v, dout, lse, delta, first_query, first_key, scale):
    """q: (queries, d), dout: (queries, dv), lse, delta: (queries); k: (keys, d), v: (keys, dv): a tile of each.

    The tile of queries begins at first_query of the sequence, that of keys at first_key; under a causal mask a query sees
    the keys up to its own place. lse, natural logarithms, and delta are of the whole row. Returns what this pair of tiles
    adds to dq, (queries, d), dk, (keys, d), and dv, (keys, dv).
    """
    i = first_query + np.arange(len(q))[:, None]
    j = first_key + np.arange(len(k))
    p = np.where(j <= i, np.exp(scale * q @ k.T - lse[:, None]), 0.0)
    ds = scale * p * (dout @ v.T - delta[:, None])
    return ds @ k, ds.T @ q, p.T @ dout
