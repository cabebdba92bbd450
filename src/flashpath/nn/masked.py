"""Attention by torch, for what the kernels do not take: masks as tensors, float32, other dimensions."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F

Tensor = torch.Tensor


def masked_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    causal: bool,
    window: tuple[int, int] | None,
    dropout: float,
    scale: float | None,
    softcap: float | None,
    sinks: Tensor | None,
    bias: Tensor | None,
) -> Tensor:
    """(batch, heads, queries, dim), with fewer heads of key and value where they are shared.

    A mask is boolean, True for what is seen, or numbers to be added; without one the last query stands at the
    last key. torch's own attention computes it, and where it has no word for softcap or sinks, the formula.
    """
    queries, keys = query.shape[2], key.shape[2]
    groups = query.shape[1] // key.shape[1]
    is_torchs = queries == keys and bias is None  # torch's own causal mask, which has no window
    if mask is None and (window is not None or (causal and queries > 1 and not is_torchs)):
        mask = _causal_mask(queries, keys, window, query.device)
    if bias is not None:
        lowest = torch.finfo(query.dtype).min
        if mask is None:
            mask = bias
        else:
            mask = torch.where(mask, bias, lowest) if mask.dtype == torch.bool else mask + bias
    if softcap or sinks is not None:
        return _formula(query, key, value, mask, causal, dropout, scale, softcap, sinks)
    if groups > 1 and mask is not None:  # torch has kernels for shared heads without a mask alone
        key, value = (x.repeat_interleave(groups, dim=1) for x in (key, value))
    return F.scaled_dot_product_attention(
        query,
        key,
        value,
        attn_mask=mask,
        dropout_p=dropout,
        is_causal=causal and mask is None and queries > 1,
        scale=scale,
        enable_gqa=groups > 1 and mask is None,
    )


def _causal_mask(queries: int, keys: int, window: tuple[int, int] | None, device: torch.device) -> Tensor:
    at = torch.arange(queries, device=device)[:, None] + (keys - queries)
    key = torch.arange(keys, device=device)[None, :]
    seen = key <= at
    return seen if window is None else seen & (key >= at - window[0])


def _formula(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    causal: bool,
    dropout: float,
    scale: float | None,
    softcap: float | None,
    sinks: Tensor | None,
) -> Tensor:
    """The formula, with all scores in memory; the softmax is in float32."""
    groups = query.shape[1] // key.shape[1]
    if groups > 1:
        key, value = (x.repeat_interleave(groups, dim=1) for x in (key, value))
    queries, keys = query.shape[2], key.shape[2]
    scores: Any = query @ key.transpose(-1, -2) * (query.shape[-1] ** -0.5 if scale is None else scale)
    if softcap:
        scores = torch.tanh(scores / softcap) * softcap
    if mask is None and causal and queries > 1:
        mask = _causal_mask(queries, keys, None, query.device)
    if mask is not None:
        lowest = torch.finfo(scores.dtype).min
        scores = scores.masked_fill(~mask, lowest) if mask.dtype == torch.bool else scores + mask
    if sinks is not None:
        extra = sinks.to(scores.dtype).view(1, -1, 1, 1).expand(scores.shape[0], -1, queries, 1)
        scores = torch.cat((scores, extra), dim=-1)
    weights = scores.softmax(-1, dtype=torch.float32).to(query.dtype)
    weights = F.dropout(weights[..., :keys], dropout, training=dropout > 0)
    return weights @ value
