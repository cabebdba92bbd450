"""The parts of dq, dk and dv that a pair of tiles has, in float64."""

import numpy as np


def reference(q, k, v, dout, lse, delta, first_query, first_key, scale):
    query = first_query + np.arange(q.shape[0])
    key = first_key + np.arange(k.shape[0])
    sees = query[:, None] >= key[None, :]
    weight = np.exp(scale * np.einsum("ic,jc->ij", q, k) - lse[:, None]) * sees
    change = weight * (np.einsum("ic,jc->ij", dout, v) - delta[:, None])
    return {
        "dq": scale * np.einsum("ij,jc->ic", change, k),
        "dk": scale * np.einsum("ij,ic->jc", change, q),
        "dv": np.einsum("ij,ic->jc", weight, dout),
    }
