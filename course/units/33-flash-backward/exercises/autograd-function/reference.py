"""Attention and its gradients in float64, and the size of q, k, v, o and lse."""

import numpy as np


def reference(q, k, v, dout, scale):
    s = scale * np.einsum("ic,jc->ij", q, k)
    e = np.exp(s - s.max(1, keepdims=True))
    p = e / e.sum(1, keepdims=True)
    dp = np.einsum("ic,jc->ij", dout, v)
    ds = scale * p * (dp - (p * dp).sum(1, keepdims=True))
    kept = 2 * q.size + 2 * k.size + len(q)
    return p @ v, ds @ k, ds.T @ q, p.T @ dout, np.array([kept])
