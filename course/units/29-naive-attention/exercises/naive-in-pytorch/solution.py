"""Attention as the formula has it, in PyTorch: all heads of all sequences, under a causal mask."""

import torch


def attention(q, k, v, scale):
    """q: (batch, n, heads, dim), k, v: (batch, m, kv_heads, dim), float32; m >= n. Returns (batch, n, heads, dim).

    heads is a multiple of kv_heads: neighbouring query heads share a key and value head. The last query stands at the
    last key: query i sees the keys 0 to i + m - n. Scores are scale times the products of queries and keys.
    """
    n, m = q.shape[1], k.shape[1]
    group = q.shape[2] // k.shape[2]
    q, k, v = (x.transpose(1, 2) for x in (q, k, v))  # (batch, heads, sequence, dim)
    k, v = (x.repeat_interleave(group, dim=1) for x in (k, v))
    s = scale * (q @ k.transpose(2, 3))  # (batch, heads, n, m)
    hidden = torch.ones(n, m, dtype=torch.bool).triu(1 + m - n)
    p = torch.softmax(s.masked_fill(hidden, float("-inf")), dim=-1)
    return (p @ v).transpose(1, 2)
