"""FlashAttention 2 in plain PyTorch, tile by tile: the algorithm of the kernels, forward and backward.

maths    forward, for a tile of queries over all tiles of keys: s = scores, m' = max(m, max s),
         o = o e^(m - m') + e^(s - m') v, l = l e^(m - m') + Σ e^(s - m'); in the end o / l, lse = m + log l.
         backward, for every pair of tiles: p = e^(s - lse), again from q and k; dv += pᵀ do,
         ds = p (do vᵀ - delta), dk += dsᵀ q, dq += ds k, with delta = Σ do · out - dlse for each query
layout   as in problem.py
cost     4 · pairs · dim FLOPs forward, 10 backward; k and v are read once for each tile of queries
idea     scores exist only for one tile: O(N) memory. It runs in any precision; in float64 finite differences
         agree with its gradients, and the kernels' gradients are compared with these.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, NamedTuple

from flashpath.kernels.attention.problem import PLAIN, Options, Problem, Sequences
from flashpath.kernels.attention.reference import (
    Places,
    biased,
    capped,
    final_scores,
    kept_weights,
    places,
    sequences_of,
)

if TYPE_CHECKING:
    from torch import Tensor
TILE = 32


class Gradients(NamedTuple):
    dq: Tensor
    dk: Tensor
    dv: Tensor
    dsinks: Tensor | None


class _Head:
    """One head of one sequence."""

    def __init__(self, problem: Problem, batch: int, head: int, queries: slice, keys: slice):
        import torch

        self.problem, self.batch, self.number, self.kv = problem, batch, head, head // problem.group
        self.queries, self.keys = queries, keys
        self.q = self.rows(problem.q, queries, head)
        self.k, self.v = (self.rows(each, keys, self.kv) for each in (problem.k, problem.v))
        number = torch.tensor([head], device=problem.q.device)
        self.at = places(batch, number, len(self.q), len(self.k))

    def rows(self, x: Tensor, rows: slice, head: int) -> Tensor:
        """(rows, dim): this head's part of a tensor like q or k, in place."""
        return (x if self.problem.sequences is not None else x[self.batch])[rows, head]

    def of_queries(self, x: Tensor) -> Tensor:
        """(queries): this head's part of a tensor like lse, in place."""
        return (
            x[self.number, self.queries] if self.problem.sequences is not None else x[self.batch, self.number]
        )

    def tile(self, i: slice, j: slice) -> tuple[Tensor, Tensor, Tensor | float]:
        """Of queries i and keys j: final scores, their derivative by the scaled product, what is kept."""
        import torch

        options = self.problem.options
        at = Places(self.batch, self.at.head, self.at.query[:, i], self.at.key[:, :, j], self.at.shift)
        limited = capped((self.q[i] @ self.k[j].mT)[None] * self.problem.scale, options)
        slope = 1 - (limited / options.softcap) ** 2 if options.softcap else torch.ones_like(limited)
        before = biased(limited, options, at)
        mod = options.score_mod
        if mod is not None and mod.torch_derivative is not None:
            slope = slope * mod.torch_derivative(before, at.batch, at.head, at.query, at.key)
        stays = kept_weights(self.problem, at)[0].to(self.q.dtype) if options.dropout_p else 1.0
        return final_scores(before, options, at)[0], slope[0], stays


def _tiles(rows: Tensor) -> list[slice]:
    return [slice(i, min(i + TILE, len(rows))) for i in range(0, len(rows), TILE)]


def _heads(problem: Problem) -> list[_Head]:
    return [
        _Head(problem, batch, head, queries, keys)
        for batch, queries, keys in sequences_of(problem)
        for head in range(problem.heads)
    ]


def forward(problem: Problem) -> tuple[Tensor, Tensor]:
    """(out, lse), in the type of q."""
    import torch

    out, lse = problem.new_out(), problem.q.new_empty(problem.lse_shape)
    for head in _heads(problem):
        for i in _tiles(head.q):
            o = torch.zeros_like(head.rows(out, head.queries, head.number)[i])
            m = o.new_full((len(o),), -torch.inf)  # the largest score so far
            total = torch.zeros_like(m)  # of e^(score - m)
            if problem.options.sinks is not None:
                m, total = m.copy_(problem.options.sinks[head.number]), total + 1
            for j in _tiles(head.k):
                s, _, stays = head.tile(i, j)
                larger = torch.maximum(m, s.amax(1))
                shift = torch.where(larger == -torch.inf, 0.0, larger)  # nothing seen yet: all weights are 0
                p = torch.exp(s - shift[:, None])
                shrink = torch.exp(m - shift)
                o = o * shrink[:, None] + (p * stays) @ head.v[j]
                total = total * shrink + p.sum(1)
                m = larger
            divisor = torch.where(total == 0, 1.0, total)
            head.rows(out, head.queries, head.number)[i] = o / divisor[:, None]
            head.of_queries(lse)[i] = m + torch.log(total)
    return out, lse


def backward(problem: Problem, out: Tensor, lse: Tensor, dout: Tensor, dlse: Tensor | None) -> Gradients:
    import torch

    dq, dk, dv = (torch.zeros_like(each) for each in (problem.q, problem.k, problem.v))
    sinks = problem.options.sinks
    dsinks = None if sinks is None else torch.zeros_like(sinks)
    for head in _heads(problem):
        of_out, do = (head.rows(each, head.queries, head.number) for each in (out, dout))
        logs = head.of_queries(lse)
        logs = torch.where(logs == -torch.inf, 0.0, logs)  # such a query has no weight in any tile
        delta = (do * of_out).sum(1) - (0 if dlse is None else head.of_queries(dlse))  # (queries)
        for i in _tiles(head.q):
            for j in _tiles(head.k):
                s, slope, stays = head.tile(i, j)
                p = torch.exp(s - logs[i, None])
                head.rows(dv, head.keys, head.kv)[j] += (p * stays).mT @ do[i]
                ds = p * ((do[i] @ head.v[j].mT) * stays - delta[i, None]) * slope * problem.scale
                head.rows(dq, head.queries, head.number)[i] += ds @ head.k[j]
                head.rows(dk, head.keys, head.kv)[j] += ds.mT @ head.q[i]
        if sinks is not None and dsinks is not None:
            dsinks[head.number] -= (torch.exp(sinks[head.number] - logs) * delta).sum()
    return Gradients(dq, dk, dv, dsinks)


@functools.cache
def _attention() -> Any:
    import torch

    class _Attention(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, q: Any, k: Any, v: Any, sinks: Any, problem: Problem) -> tuple[Tensor, Tensor]:
            out, lse = forward(problem)
            ctx.problem = problem
            ctx.save_for_backward(out, lse)
            return out, lse

        @staticmethod
        def backward(ctx: Any, dout: Tensor, dlse: Tensor) -> tuple[Tensor | None, ...]:  # pyright: ignore
            out, lse = ctx.saved_tensors
            return *backward(ctx.problem, out, lse, dout, dlse), None

    return _Attention


def tiled(
    q: Tensor, k: Tensor, v: Tensor, options: Options = PLAIN, sequences: Sequences | None = None
) -> tuple[Tensor, Tensor]:
    """(out, lse) in the type of q, with gradients for q, k, v and the sinks."""
    problem = Problem(q.detach(), k.detach(), v.detach(), options, sequences)
    return _attention().apply(q, k, v, options.sinks, problem)
