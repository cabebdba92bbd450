"""Attention: the formula in plain PyTorch, in the type of its inputs.

maths    s = scale q kᵀ, p = softmax(s), out = p v; lse = log Σ e^s
layout   as in problem.py
cost     4 · queries · keys · dim FLOPs for each head, hidden pairs too. s, its copies with scale and with
         mask, p, and for lse a copy in float32 have queries · keys elements for each head. All are written
         and read again: at 16k tokens and dim 128 each has 128 times as many elements as q
idea     each line is a line of the formula, and gradients are torch's. All others are compared with it: time
         and memory grow with the square of the length (programs/flash_attention/naive_attention.py)
"""

from __future__ import annotations

from typing import Any

from flashpath.kernels.attention.device.plain import is_causal, outputs, require_plain
from flashpath.kernels.attention.problem import Problem


def forward(problem: Problem, out: Any | None = None, lse: Any | None = None) -> tuple[Any, Any]:
    """(out, lse), differentiable by torch where they are not the caller's own."""
    require_plain("naive", problem)
    results = _attend(problem, problem.q, problem.k, problem.v)
    if out is None and lse is None:
        return results
    given = outputs(problem, out, lse)
    for mine, result in zip(given, results, strict=True):
        mine.copy_(result)
    return given


def backward(
    problem: Problem, out: Any, lse: Any, dout: Any, dlse: Any | None = None, deterministic: bool = False
) -> Any:
    """Returns torch's gradients from the inputs: they need p, which nobody kept."""
    import torch

    from flashpath.kernels.attention.tiled import Gradients

    require_plain("naive", problem)
    inputs = [each.detach().requires_grad_() for each in (problem.q, problem.k, problem.v)]
    with torch.enable_grad():
        results = _attend(problem, *inputs)
    wanted = (dout, torch.zeros_like(lse) if dlse is None else dlse)
    dq, dk, dv = torch.autograd.grad(results, inputs, wanted)
    return Gradients(dq, dk, dv, None)


def _attend(problem: Problem, q: Any, k: Any, v: Any) -> tuple[Any, Any]:
    import torch

    # (batch, heads, sequence, dim)
    q, k, v = (tensor.transpose(1, 2) for tensor in (q, k, v))
    k, v = (tensor.repeat_interleave(problem.group, 1) for tensor in (k, v))
    scores = (q @ k.mT) * problem.scale  # (batch, heads, queries, keys)
    shift = problem.keys - problem.queries
    query = torch.arange(problem.queries, device=q.device)[:, None]
    key = torch.arange(problem.keys, device=q.device)
    every = torch.full_like(query, problem.keys - 1)
    last = query + shift if is_causal(problem) else every
    # A query that sees nothing has no softmax: it gets one over everything,
    # of which nothing is kept.
    blind = last < 0  # (queries, 1)
    scores = scores.masked_fill((key > last) & ~blind, -torch.inf)
    weights = torch.softmax(scores, -1).masked_fill(blind, 0)
    lse = torch.logsumexp(scores.float(), -1)
    lse = lse.masked_fill(blind[:, 0], -torch.inf)
    return (weights @ v).transpose(1, 2), lse
