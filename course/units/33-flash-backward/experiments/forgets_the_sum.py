"""Attention whose backward pass takes the softmax's denominator for a constant, and the right formula."""

import torch


class _Attention(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v):
        p = torch.softmax(q @ k.T, 1)  # (n, m)
        ctx.save_for_backward(q, k, v, p)
        return p @ v

    @staticmethod
    def backward(ctx, dout):
        q, k, v, p = ctx.saved_tensors
        # Wrong: each score also changes the denominator of its row.
        ds = p * (dout @ v.T)
        return ds @ k, ds.T @ q, p.T @ dout


def attention(q, k, v):
    return _Attention.apply(q, k, v)


def formula(q, k, v):
    return torch.softmax(q @ k.T, 1) @ v
