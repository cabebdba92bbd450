"""A step of decoding as the words of cache.py have it, sequence by sequence, in any precision."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from flashpath.kernels.attention.decode.cache import Cache, Rotary, Step
from flashpath.kernels.attention.reference import formula
from flashpath.kernels.attention.score_mod import ScoreMod

if TYPE_CHECKING:
    import torch
    from torch import Tensor


def rotated(x: Tensor, rotary: Rotary, position: Tensor) -> Tensor:
    """x: (rows, heads, dim), rows at these positions."""
    pairs = rotary.pairs
    cos, sin = (each[position].to(x.dtype)[:, None, :] for each in (rotary.cos, rotary.sin))
    turned = x.clone()
    first, second = (
        (slice(0, 2 * pairs, 2), slice(1, 2 * pairs, 2))
        if rotary.interleaved
        else (slice(0, pairs), slice(pairs, 2 * pairs))
    )
    turned[..., first] = x[..., first] * cos - x[..., second] * sin
    turned[..., second] = x[..., first] * sin + x[..., second] * cos
    return turned


def rows_of(cache: Cache, batch: int, positions: Tensor) -> tuple[Tensor, Tensor]:
    """Returns where keys of a sequence are: indices of the first two dimensions of the cache."""
    import torch

    if cache.page_table is not None:
        return cache.page_table[batch][positions // cache.page_size].long(), positions % cache.page_size
    entry = batch if cache.batch_index is None else int(cache.batch_index[batch])
    return torch.full_like(positions, entry), positions


def append(step: Step) -> Tensor:
    """Write the new keys and values into the cache; gives q, rotated."""
    import torch

    q = step.q.clone()
    for batch in range(step.batch):
        length = int(step.cache.lengths[batch])
        if step.new_k is not None and step.new_v is not None and step.new:
            positions = length + torch.arange(step.new, device=q.device)
            k = step.new_k[batch].double()
            if step.rotary is not None:
                k = rotated(k, step.rotary, positions)
            at = rows_of(step.cache, batch, positions)
            step.cache.k[at] = k.to(step.cache.k.dtype)
            step.cache.v[at] = step.new_v[batch]
        if step.rotary is not None:
            numbers = torch.arange(step.queries, device=q.device)
            positions = length + (numbers if step.queries_move else 0 * numbers)
            q[batch] = rotated(q[batch].double(), step.rotary, positions).to(q.dtype)
    return q


def _at_batch(mod: ScoreMod, batch: int) -> ScoreMod:
    """For a formula that is given one sequence alone."""

    def function(score: Tensor, _: int, *place: Tensor) -> Tensor:
        return mod.form("torch")(score, batch, *place)

    return ScoreMod(mod.name, function)


def decode(step: Step, *, dtype: torch.dtype | None = None) -> tuple[Tensor, Tensor]:
    """(out, lse), the keys and values of the step being written first."""
    import torch

    q = append(step)
    outs: list[Tensor] = []
    lses: list[Tensor] = []
    for batch in range(step.batch):
        pad = 0 if step.cache.left_pad is None else int(step.cache.left_pad[batch])
        end = int(step.cache.lengths[batch]) + step.new
        at = rows_of(step.cache, batch, torch.arange(pad, end, device=q.device))
        options = step.options
        if options.alibi_slopes is not None and options.alibi_slopes.dim() == 2:
            options = replace(options, alibi_slopes=options.alibi_slopes[batch])
        if options.score_mod is not None:
            options = replace(options, score_mod=_at_batch(options.score_mod, batch))
        out, lse = formula(
            q[batch : batch + 1], step.cache.k[at][None], step.cache.v[at][None], options, dtype=dtype
        )
        outs.append(out)
        lses.append(lse)
    return torch.cat(outs), torch.cat(lses)
