"""Rotary position embedding, the reference: PyTorch in float64, rounded once."""

from __future__ import annotations

from typing import Any

from flashpath.kernels.rope.problem import Problem, prepare


def reference(
    q: Any,
    k: Any | None,
    cos: Any,
    sin: Any,
    positions: Any | None = None,
    offset: int = 0,
    interleaved: bool = False,
    inverse: bool = False,
    out: tuple[Any, Any | None] | None = None,
) -> tuple[Any, Any | None]:
    """(q, k), turned; a position without a row turns nothing."""
    problem = prepare(q, k, cos, sin, positions, offset, interleaved, inverse, out)
    for result, exact in zip(problem.results, truth(*_given(problem)), strict=True):
        if result is not None:
            result.copy_(exact)
    return problem.results


def _given(problem: Problem) -> tuple[Any, ...]:
    p = problem
    return p.q, p.k, p.cos, p.sin, p.positions, p.offset, p.interleaved, p.inverse


def truth(q: Any, k: Any | None, cos: Any, sin: Any, *rest: Any) -> tuple[Any, Any | None]:
    """The same in float64, not rounded to the type of q."""
    wide_k = None if k is None else k.double()
    return formula(q.double(), wide_k, cos.double(), sin.double(), *rest)


def formula(
    q: Any,
    k: Any | None,
    cos: Any,
    sin: Any,
    positions: Any | None = None,
    offset: int = 0,
    interleaved: bool = False,
    inverse: bool = False,
) -> tuple[Any, Any | None]:
    """As a user of PyTorch writes it, in the type of its inputs."""
    problem = Problem(q, k, cos, sin, positions, offset, interleaved, inverse)
    c, s = (each.unsqueeze(-2) for each in angles(problem))  # (batch or 1, sequence, 1, pairs)
    s = -s if inverse else s
    turned = turned_by(q, c, s, interleaved)
    return turned, None if k is None else turned_by(k, c, s, interleaved)


def turned_by(x: Any, c: Any, s: Any, interleaved: bool) -> Any:
    import torch

    pairs = c.shape[-1]
    turning, rest = x[..., : 2 * pairs], x[..., 2 * pairs :]
    if interleaved:
        first, second = turning[..., 0::2], turning[..., 1::2]
        turned = torch.stack((first * c - second * s, second * c + first * s), -1).flatten(-2)
    else:
        first, second = turning.chunk(2, -1)
        turned = torch.cat((first * c - second * s, second * c + first * s), -1)
    return torch.cat((turned.to(x.dtype), rest), -1)


def angles(problem: Problem) -> tuple[Any, Any]:
    """cos and sin of each token: (batch or 1, sequence, pairs)."""
    import torch

    cos, sin = problem.cos, problem.sin
    if cos.dim() == 3:
        return cos, sin
    if problem.positions is None:
        rows = slice(problem.offset, problem.offset + problem.sequence)
        return cos[rows][None], sin[rows][None]
    row = problem.positions + problem.offset
    if problem.counts:
        row = row + torch.arange(problem.sequence, device=row.device)
    is_there = ((row >= 0) & (row < cos.shape[0]))[..., None]
    row = row.clamp(0, max(cos.shape[0] - 1, 0))
    return torch.where(is_there, cos[row], 1.0), torch.where(is_there, sin[row], 0.0)
