"""FlashAttention 3's module `flash_attn_interface`, for float16 and bfloat16, on flashpath's kernels.

Signatures and layouts are its own; on every GPU that flashpath has kernels for. What FlashAttention 3 alone
has (fp8 with scales, qv, chunks, queries packed beside a cache) is refused in words. What only tunes its
kernels (num_splits without a cache, pack_gqa, sm_margin, scheduler_metadata) changes nothing.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F

from flashpath import ops
from flashpath.compat.flash_attn import functions
from flashpath.compat.flash_attn.checking import called_as, require_layout, unpacked, window_sides
from flashpath.compat.flash_attn.entry_points import used_rows
from flashpath.compat.flash_attn.functions import EVERYTHING, Window, filled_up, require_dim
from flashpath.ops.checking import refuse, require_flag, require_tensors
from flashpath.ops.plans import planned

__all__ = [
    "flash_attn_combine",
    "flash_attn_func",
    "flash_attn_qkvpacked_func",
    "flash_attn_varlen_func",
    "flash_attn_with_kvcache",
]

Tensor = torch.Tensor


def _refuse_what_is_not_there(name: str, attention_chunk: Any, **given: Any) -> None:
    for key, value in given.items():
        if value is not None:
            refuse("compat.fa3-not-there", name=name, key=key)
    if attention_chunk:
        refuse("compat.fa3-not-there", name=name, key="attention_chunk")


def _attend(
    name: str,
    operator: Any,
    tensors: tuple[Tensor, Tensor, Tensor],
    bounds: tuple[Any, ...],
    softmax_scale: float | None,
    causal: bool,
    window_size: Window,
    softcap: float,
    deterministic: bool,
    return_attn_probs: bool,
) -> Any:
    q, _, v = tensors
    require_dim(name, q)
    require_flag(name, "return_attn_probs", return_attn_probs)
    options: dict[str, Any] = {
        "causal": causal,
        "window": window_sides(name, window_size),
        "softcap": softcap,
        "scale": q.shape[-1] ** -0.5 if softmax_scale is None else softmax_scale,
        "deterministic": deterministic,
    }
    out, lse = called_as(name, operator, *map(filled_up, tensors), *bounds, return_lse=True, **options)
    out = out[..., : v.shape[-1]]
    return (out, lse) if return_attn_probs else out


@planned
def flash_attn_func(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    softmax_scale: float | None = None,
    causal: bool = False,
    qv: Tensor | None = None,
    q_descale: Tensor | None = None,
    k_descale: Tensor | None = None,
    v_descale: Tensor | None = None,
    window_size: Window = EVERYTHING,
    attention_chunk: int = 0,
    softcap: float = 0.0,
    num_splits: int = 1,
    pack_gqa: bool | None = None,
    deterministic: bool = False,
    sm_margin: int = 0,
    return_attn_probs: bool = False,
) -> Any:
    """q: (batch, queries, heads, dim), k and v: (batch, keys, kv_heads, dim)."""
    name = "flash_attn_func"
    del num_splits, pack_gqa, sm_margin
    given = {"qv": qv, "q_descale": q_descale, "k_descale": k_descale, "v_descale": v_descale}
    _refuse_what_is_not_there(name, attention_chunk, **given)
    require_layout(name, 4, q=q, k=k, v=v)
    options = softmax_scale, causal, window_size, softcap, deterministic, return_attn_probs
    return _attend(name, ops.attention, (q, k, v), (), *options)


@planned
def flash_attn_qkvpacked_func(
    qkv: Tensor,
    softmax_scale: float | None = None,
    causal: bool = False,
    q_descale: Tensor | None = None,
    k_descale: Tensor | None = None,
    v_descale: Tensor | None = None,
    window_size: Window = EVERYTHING,
    attention_chunk: int = 0,
    softcap: float = 0.0,
    deterministic: bool = False,
    num_heads_q: int | None = None,
    sm_margin: int = 0,
    return_attn_probs: bool = False,
) -> Any:
    """qkv: (batch, sequence, 3, heads, dim), or with num_heads_q (batch, sequence, all heads, dim)."""
    name = "flash_attn_qkvpacked_func"
    del sm_margin
    given = {"q_descale": q_descale, "k_descale": k_descale, "v_descale": v_descale}
    _refuse_what_is_not_there(name, attention_chunk, **given)
    if num_heads_q is None:
        q, k, v = unpacked(name, "(batch, sequence, 3, heads, dim)", qkv=qkv)
    else:
        require_layout(name, 4, qkv=qkv)
        of_k = (qkv.shape[2] - num_heads_q) // 2
        k_from, v_from = num_heads_q, num_heads_q + of_k
        q, k, v = qkv[:, :, :k_from], qkv[:, :, k_from:v_from], qkv[:, :, v_from:]
    options = softmax_scale, causal, window_size, softcap, deterministic, return_attn_probs
    return _attend(name, ops.attention, (q, k, v), (), *options)


@planned
def flash_attn_varlen_func(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    cu_seqlens_q: Tensor,
    cu_seqlens_k: Tensor,
    max_seqlen_q: int,
    max_seqlen_k: int,
    seqused_q: Tensor | None = None,
    seqused_k: Tensor | None = None,
    softmax_scale: float | None = None,
    causal: bool = False,
    qv: Tensor | None = None,
    q_descale: Tensor | None = None,
    k_descale: Tensor | None = None,
    v_descale: Tensor | None = None,
    window_size: Window = EVERYTHING,
    attention_chunk: int = 0,
    softcap: float = 0.0,
    num_splits: int = 1,
    pack_gqa: bool | None = None,
    deterministic: bool = False,
    sm_margin: int = 0,
    return_attn_probs: bool = False,
) -> Any:
    """q: (tokens, heads, dim), k and v: (tokens, kv_heads, dim); seqused_k: so many keys of each."""
    name = "flash_attn_varlen_func"
    del num_splits, pack_gqa, sm_margin
    given = {"seqused_q": seqused_q, "qv": qv, "q_descale": q_descale, "k_descale": k_descale}
    _refuse_what_is_not_there(name, attention_chunk, **given, v_descale=v_descale)
    require_layout(name, 3, q=q, k=k, v=v)
    require_tensors(name, cu_seqlens_q=cu_seqlens_q, cu_seqlens_k=cu_seqlens_k)
    if seqused_k is not None:
        require_tensors(name, seqused_k=seqused_k)
        first, cu_seqlens_k = cu_seqlens_k, F.pad(seqused_k.cumsum(0), (1, 0)).to(torch.int32)
        rows = used_rows(first, cu_seqlens_k)
        k, v = k[rows], v[rows]
    bounds = cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k
    options = softmax_scale, causal, window_size, softcap, deterministic, return_attn_probs
    return _attend(name, ops.attention_varlen, (q, k, v), bounds, *options)


def flash_attn_with_kvcache(
    q: Tensor,
    k_cache: Tensor,
    v_cache: Tensor,
    k: Tensor | None = None,
    v: Tensor | None = None,
    qv: Tensor | None = None,
    rotary_cos: Tensor | None = None,
    rotary_sin: Tensor | None = None,
    cache_seqlens: Tensor | int | None = None,
    cache_batch_idx: Tensor | None = None,
    cache_leftpad: Tensor | None = None,
    page_table: Tensor | None = None,
    cu_seqlens_q: Tensor | None = None,
    cu_seqlens_k_new: Tensor | None = None,
    max_seqlen_q: int | None = None,
    rotary_seqlens: Tensor | None = None,
    q_descale: Tensor | None = None,
    k_descale: Tensor | None = None,
    v_descale: Tensor | None = None,
    softmax_scale: float | None = None,
    causal: bool = False,
    window_size: Window = EVERYTHING,
    attention_chunk: int = 0,
    softcap: float = 0.0,
    rotary_interleaved: bool = True,
    scheduler_metadata: Tensor | None = None,
    num_splits: int = 0,
    pack_gqa: bool | None = None,
    sm_margin: int = 0,
    return_softmax_lse: bool = False,
) -> Any:
    """A step of decoding; with return_softmax_lse (out, LSE, and two empty tensors for its splits)."""
    name = "flash_attn_with_kvcache"
    del max_seqlen_q, scheduler_metadata, pack_gqa, sm_margin
    given = {"qv": qv, "cu_seqlens_q": cu_seqlens_q, "cu_seqlens_k_new": cu_seqlens_k_new}
    descales = {"q_descale": q_descale, "k_descale": k_descale, "v_descale": v_descale}
    _refuse_what_is_not_there(name, attention_chunk, **given, rotary_seqlens=rotary_seqlens, **descales)
    more = {} if page_table is None else {"block_table": page_table}
    out, lse = functions.flash_attn_with_kvcache(
        q,
        k_cache,
        v_cache,
        k,
        v,
        rotary_cos,
        rotary_sin,
        cache_seqlens,
        cache_batch_idx,
        cache_leftpad,
        softmax_scale=softmax_scale,
        causal=causal,
        window_size=window_size,
        softcap=softcap,
        rotary_interleaved=rotary_interleaved,
        num_splits=num_splits,
        return_softmax_lse=True,
        **more,
    )
    if not return_softmax_lse:
        return out
    nothing = q.new_empty(0, dtype=torch.float32)
    return out, lse.masked_fill(lse == torch.inf, -torch.inf), nothing, nothing


def flash_attn_combine(
    out_partial: Tensor,
    lse_partial: Tensor,
    out: Tensor | None = None,
    out_dtype: torch.dtype | None = None,
) -> tuple[Tensor, Tensor]:
    """Attentions of the same queries over different keys as one: (splits, batch, queries, heads, dim).

    lse_partial: (splits, batch, queries, heads). The result is of `out_dtype`, else of the parts' type.
    """
    name = "flash_attn_combine"
    require_layout(name, 5, "(splits, batch, queries, heads, dim)", out_partial=out_partial)
    require_layout(name, 4, "(splits, batch, queries, heads)", lse_partial=lse_partial)
    if lse_partial.shape != out_partial.shape[:-1]:
        shapes = {"shape": str(tuple(lse_partial.shape)), "expected": str(tuple(out_partial.shape[:-1]))}
        refuse("compat.fa3-lse", name=name, **shapes)
    parts = lse_partial.float()
    lse = parts.logsumexp(0)
    weights = torch.where(lse == -torch.inf, 0, (parts - lse).exp())
    total = (out_partial.float() * weights[..., None]).sum(0)
    kind = out_partial.dtype if out_dtype is None else out_dtype
    return (total.to(kind) if out is None else out.copy_(total)), lse
