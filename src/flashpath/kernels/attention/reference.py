"""Attention as the formula has it, with whole rows of scores: the truth in float64, the error of halves."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, NamedTuple

from flashpath.kernels.attention.dropout import kept
from flashpath.kernels.attention.problem import PLAIN, Options, Problem, Sequences

if TYPE_CHECKING:
    import torch
    from torch import Tensor
# Elements of scores, keys and values that are computed with at a time: so much memory, times what is between
# scores and weights, is taken whatever the problem's size is. torch on a CPU gains nothing by more.
_AT_ONCE, _AT_ONCE_ON_CPU = 2**27, 2**22


class Places(NamedTuple):
    """The heads, queries and keys that some scores, or all of them, belong to."""

    batch: int
    head: Tensor  # (heads, 1, 1): their numbers
    query: Tensor  # (1, queries, 1), counted within the sequence
    key: Tensor  # (1, 1, keys)
    shift: int  # keys - queries of the whole sequence


def places(batch: int, head: Tensor, queries: int, keys: int, rows: slice = slice(None)) -> Places:
    """Returns the places of all scores of a sequence, or of some of its queries."""
    import torch

    query, key = (torch.arange(n, device=head.device) for n in (queries, keys))
    return Places(batch, head[:, None, None], query[None, rows, None], key[None, None, :], keys - queries)


def visible(options: Options, at: Places) -> Tensor:
    """(1, queries, keys): whether a query sees a key."""
    import torch

    distance = at.key - at.query - at.shift
    seen = torch.ones_like(distance, dtype=torch.bool)
    if options.left >= 0:
        seen &= distance >= -options.left
    if options.right >= 0:
        seen &= distance <= options.right
    return seen


def capped(scores: Tensor, options: Options) -> Tensor:
    import torch

    return options.softcap * torch.tanh(scores / options.softcap) if options.softcap else scores


def biased(scores: Tensor, options: Options, at: Places) -> Tensor:
    """Less by ALiBi's slope for each key between."""
    if options.alibi_slopes is None:
        return scores
    slopes = options.alibi_slopes if options.alibi_slopes.dim() == 1 else options.alibi_slopes[at.batch]
    return scores - slopes[at.head].to(scores.dtype) * (at.query + at.shift - at.key).abs()


def final_scores(scores: Tensor, options: Options, at: Places) -> Tensor:
    """What the softmax sees of capped and biased scores."""
    import torch

    if options.score_mod is not None:
        scores = options.score_mod.of_scores(scores, at.batch, at.head, at.query, at.key)
    return torch.where(visible(options, at), scores, torch.full_like(scores, -torch.inf))


def kept_weights(problem: Problem, at: Places) -> Tensor:
    """(heads, queries, keys): 0 where dropout removes a weight, 1 / (1 - p) where it does not."""
    import torch

    p = problem.options.dropout_p
    of_head = at.batch * problem.heads + at.head
    return kept(problem.options.seed, p, of_head, at.query, at.key).to(torch.float64) / (1 - p)


def _of_heads(q: Tensor, k: Tensor, v: Tensor, problem: Problem, at: Places) -> tuple[Tensor, Tensor]:
    """(heads, queries, dim) … → out (heads, queries, v_dim), lse (heads, queries)."""
    import torch

    options, head = problem.options, at.head.flatten()
    scores = final_scores(biased(capped((q @ k.mT) * problem.scale, options), options, at), options, at)
    parts = [scores]
    if options.sinks is not None:
        sinks = options.sinks[head].to(scores.dtype)
        parts.append(sinks[:, None, None].expand(*scores.shape[:2], 1))
    all_scores = torch.cat(parts, -1)
    # A row with nothing to see has no softmax: zeros stand in, so that its gradient is 0 and not NaN.
    dead = (all_scores == -torch.inf).all(-1)  # (heads, queries)
    padded = torch.cat([all_scores, torch.full_like(all_scores[..., :1], -torch.inf)], -1)
    live = torch.where(dead[..., None], torch.zeros_like(padded), padded)
    lse = torch.logsumexp(live, -1)
    # Not e^(score - lse): of a large score the rounded lse is off by more than the weights may be.
    weights = torch.softmax(live, -1)[..., : scores.shape[-1]]
    weights = torch.where(dead[..., None], torch.zeros_like(scores), weights)
    lse = torch.where(dead, torch.full_like(lse, -torch.inf), lse)
    if options.dropout_p:
        weights = weights * kept_weights(problem, at).to(weights.dtype)
    return weights @ v, lse


def sequences_of(problem: Problem) -> Iterator[tuple[int, slice, slice]]:
    """(batch, its queries, its keys) of each sequence, as slices of the token dimension."""
    if problem.sequences is None:
        for batch in range(problem.batch):
            yield batch, slice(0, problem.queries), slice(0, problem.keys)
        return
    cu_q, cu_k = problem.sequences.cu_q.tolist(), problem.sequences.cu_k.tolist()
    for batch in range(problem.batch):
        yield batch, slice(cu_q[batch], cu_q[batch + 1]), slice(cu_k[batch], cu_k[batch + 1])


def _at_once(problem: Problem) -> int:
    return _AT_ONCE if problem.q.is_cuda else _AT_ONCE_ON_CPU


def _heads_at_once(problem: Problem, queries: int, keys: int) -> Iterator[Tensor]:
    """Numbers of heads whose keys and values, and a row of whose scores at least, are held together."""
    import torch

    of_head = max(1, keys * max(problem.dim + problem.v_dim, queries))
    step = max(1, _at_once(problem) // of_head)
    for first in range(0, problem.heads, step):
        yield torch.arange(first, min(first + step, problem.heads), device=problem.q.device)


def _of_rows(
    q: Tensor, k: Tensor, v: Tensor, problem: Problem, batch: int, head: Tensor
) -> tuple[Tensor, Tensor]:
    """Computes these heads, some queries at a time; q: (heads, queries, dim), all heads of q, k and v."""
    import torch

    of_kv = head // problem.group
    q, k, v = q[head], k[of_kv], v[of_kv]
    queries, keys = q.shape[1], k.shape[1]
    step = max(1, _at_once(problem) // max(1, len(head) * keys))
    parts: list[tuple[Tensor, Tensor]] = []
    for first in range(0, max(1, queries), step):
        rows = slice(first, first + step)
        parts.append(_of_heads(q[:, rows], k, v, problem, places(batch, head, queries, keys, rows)))
    return torch.cat([out for out, _ in parts], 1), torch.cat([lse for _, lse in parts], 1)


def formula(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    options: Options = PLAIN,
    sequences: Sequences | None = None,
    *,
    dtype: torch.dtype | None = None,
) -> tuple[Tensor, Tensor]:
    """(out, lse), computed in `dtype` or else in float64, differentiable by torch; without autocast."""
    with own_precision(q):
        return _formula(q, k, v, options, sequences, dtype)


def own_precision(x: Tensor) -> AbstractContextManager[object]:
    """Autocast would compute products of x in half precision; here it does not."""
    import torch

    return torch.autocast(x.device.type, enabled=False) if x.device.type in ("cpu", "cuda") else nullcontext()


def _formula(
    q: Tensor, k: Tensor, v: Tensor, options: Options, sequences: Sequences | None, dtype: torch.dtype | None
) -> tuple[Tensor, Tensor]:
    import torch

    problem = Problem(q, k, v, options, sequences)
    wide = [each.to(dtype or torch.float64) for each in (q, k, v)]
    outs: list[Tensor] = []
    lses: list[Tensor] = []
    for batch, queries, keys in sequences_of(problem):
        of_batch = [each[batch] if sequences is None else each for each in wide]
        q_rows, k_rows, v_rows = (
            each[rows].transpose(0, 1) for each, rows in zip(of_batch, (queries, keys, keys), strict=True)
        )
        parts = [
            _of_rows(q_rows, k_rows, v_rows, problem, batch, head)
            for head in _heads_at_once(problem, q_rows.shape[1], k_rows.shape[1])
        ]
        outs.append(torch.cat([out for out, _ in parts]).transpose(0, 1))
        lses.append(torch.cat([lse for _, lse in parts]))
    if sequences is None:
        return torch.stack(outs), torch.stack(lses)
    return torch.cat(outs), torch.cat(lses, 1)


def reference(
    q: Tensor, k: Tensor, v: Tensor, options: Options = PLAIN, sequences: Sequences | None = None
) -> Tensor:
    """The output in float64, rounded once."""
    return formula(q, k, v, options, sequences)[0].to(q.dtype)
