"""Attention as the formula has it, in PyTorch: all heads of all sequences, under a causal mask."""

import torch


def attention(q, k, v, scale):
    """q: (batch, n, heads, dim), k, v: (batch, m, kv_heads, dim), float32; m >= n. Returns (batch, n, heads, dim).

    heads is a multiple of kv_heads: neighbouring query heads share a key and value head. The last query stands at the
    last key: query i sees the keys 0 to i + m - n. Scores are scale times the products of queries and keys.
    """
    # TODO: this is one head, without scale and mask
    s = q[:, :, 0] @ k[:, :, 0].transpose(1, 2)  # (batch, n, m)
    p = torch.softmax(s, dim=-1)
    return (p @ v[:, :, 0])[:, :, None]  # (batch, n, 1, dim)
