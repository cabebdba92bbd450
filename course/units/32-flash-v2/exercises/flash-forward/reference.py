"""Grouped attention in float64, tokens before heads; a query that sees nothing has 0 and -inf."""

import numpy as np


def reference(q, k, v, scale, queries, keys, heads, group, causal):
    of_head = np.arange(heads) // group
    s = scale * np.einsum("ihd,jhd->hij", q, k[:, of_head])
    if causal:
        s = np.where(np.tri(queries, keys, keys - queries, dtype=bool), s, -np.inf)
    m = s.max(2, initial=-np.inf)
    shift = np.where(np.isneginf(m), 0.0, m)
    p = np.exp(s - shift[:, :, None])
    l = p.sum(2)
    o = np.einsum("hij,jhd->ihd", p, v[:, of_head]) / np.where(l == 0, 1.0, l).T[:, :, None]
    return {"o": o, "lse": shift + np.log(l)}
