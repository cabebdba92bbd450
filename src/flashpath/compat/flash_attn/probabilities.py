"""flash-attn's `return_attn_probs` under dropout: the weights, and by their signs which were dropped.

Element (i, j) of a head is ±e^(score - m), with m the largest score of row i, negative where dropout removed
the weight; times e^(m - LSE) it is the softmax. Queries and keys are filled up to multiples of 128, with
zeros. A sequence has a matrix of its own, from its first query and key on.

The kernels never write such a matrix: this is torch's arithmetic, in float32, for tests and for looking into.
"""

from dataclasses import replace

import torch

from flashpath.kernels.attention.dropout import kept_rows
from flashpath.kernels.attention.problem import Options, Problem
from flashpath.kernels.attention.reference import (
    biased,
    capped,
    final_scores,
    own_precision,
    places,
    sequences_of,
)

Tensor = torch.Tensor
STEP = 128  # flash-attn fills both sides of a matrix up to multiples of it
_SCORES_AT_ONCE = 2**26


def signed_probabilities(problem: Problem) -> Tensor:
    """(batch, heads, queries, keys), filled up, of the type of q; autocast changes nothing."""
    with own_precision(problem.q):
        return _signed_probabilities(problem)


def _signed_probabilities(problem: Problem) -> Tensor:
    sides = (-(-each // STEP) * STEP for each in (problem.queries, problem.keys))
    result = problem.q.new_zeros((problem.batch, problem.heads, *sides))
    if problem.sequences is None:
        q, k = (each.transpose(1, 2) for each in (problem.q, problem.k))  # (batch, heads, rows, dim)
        _fill(result, q, k, problem, 0)
        return result
    for batch, queries, keys in sequences_of(problem):
        q, k = problem.q[queries].transpose(0, 1), problem.k[keys].transpose(0, 1)
        _fill(result[batch : batch + 1], q[None], k[None], problem, batch)
    return result


def _fill(result: Tensor, q: Tensor, k: Tensor, problem: Problem, first_batch: int) -> None:
    """The matrices of these batches, heads by heads; a head has its number among all heads of all batches."""
    (batches, heads, queries, _), keys = q.shape, k.shape[2]
    if not queries or not keys:
        return
    options = _with_slopes_of_all(problem)
    at_once = max(1, _SCORES_AT_ONCE // (queries * keys))
    for first in range(0, batches * heads, at_once):
        here = torch.arange(first, min(first + at_once, batches * heads), device=q.device)
        batch, head = here // heads, here % heads
        products = q[batch, head].float() @ k[batch, head // problem.group].float().mT
        at = places(0, here + first_batch * heads, queries, keys)
        scores = final_scores(biased(capped(products * problem.scale, options), options, at), options, at)
        weights = torch.exp(scores - _finite(scores.amax(-1, keepdim=True)))
        stays = kept_rows(options.seed, options.dropout_p, at.head, at.query, keys)
        result[batch, head, :queries, :keys] = torch.where(stays, weights, -weights).to(result.dtype)


def _finite(largest: Tensor) -> Tensor:
    """A row with nothing to see has no largest score: 0 makes all of its weights 0."""
    return torch.where(largest == -torch.inf, 0.0, largest)


def _with_slopes_of_all(problem: Problem) -> Options:
    """ALiBi's slopes by the number of a head among all heads of all batches."""
    slopes = problem.options.alibi_slopes
    if slopes is None:
        return problem.options
    return replace(problem.options, alibi_slopes=slopes.expand(problem.batch, problem.heads).flatten())
