"""The functions of flash-attn 2.x, each a call of `attention`, `attention_varlen` or `attention_decode`."""

from typing import Any

import torch

from flashpath import ops

Tensor = torch.Tensor
EVERYTHING = (-1, -1)


def _with_probabilities(result: tuple[Tensor, Tensor], wanted: bool, dropout_p: float) -> Any:
    """flash-attn's return_attn_probs: (out, lse, probabilities), the last None where there is no dropout."""
    out, lse = result
    if not wanted:
        return out
    if dropout_p > 0:
        raise NotImplementedError(
            "return_attn_probs with dropout: flashpath never writes the probabilities, only out and LSE. "
            "Call it with dropout_p=0, or take the mask from flashpath.kernels.attention.dropout.kept."
        )
    return out, lse, None


def flash_attn_func(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    dropout_p: float = 0.0,
    softmax_scale: float | None = None,
    causal: bool = False,
    window_size: tuple[int, int] = EVERYTHING,
    softcap: float = 0.0,
    alibi_slopes: Tensor | None = None,
    deterministic: bool = False,
    return_attn_probs: bool = False,
) -> Any:
    """q: (batch, queries, heads, dim), k and v: (batch, keys, kv_heads, dim)."""
    result = ops.attention(
        q,
        k,
        v,
        causal=causal,
        window=window_size,
        softcap=softcap,
        scale=softmax_scale,
        alibi_slopes=alibi_slopes,
        dropout_p=dropout_p,
        deterministic=deterministic,
        return_lse=True,
    )
    return _with_probabilities(result, return_attn_probs, dropout_p)


def flash_attn_qkvpacked_func(
    qkv: Tensor,
    dropout_p: float = 0.0,
    softmax_scale: float | None = None,
    causal: bool = False,
    window_size: tuple[int, int] = EVERYTHING,
    softcap: float = 0.0,
    alibi_slopes: Tensor | None = None,
    deterministic: bool = False,
    return_attn_probs: bool = False,
) -> Any:
    """qkv: (batch, sequence, 3, heads, dim)."""
    q, k, v = qkv.unbind(2)
    return flash_attn_func(
        q,
        k,
        v,
        dropout_p,
        softmax_scale,
        causal,
        window_size,
        softcap,
        alibi_slopes,
        deterministic,
        return_attn_probs,
    )


def flash_attn_kvpacked_func(
    q: Tensor,
    kv: Tensor,
    dropout_p: float = 0.0,
    softmax_scale: float | None = None,
    causal: bool = False,
    window_size: tuple[int, int] = EVERYTHING,
    softcap: float = 0.0,
    alibi_slopes: Tensor | None = None,
    deterministic: bool = False,
    return_attn_probs: bool = False,
) -> Any:
    """kv: (batch, keys, 2, kv_heads, dim)."""
    k, v = kv.unbind(2)
    return flash_attn_func(
        q,
        k,
        v,
        dropout_p,
        softmax_scale,
        causal,
        window_size,
        softcap,
        alibi_slopes,
        deterministic,
        return_attn_probs,
    )


def flash_attn_varlen_func(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    cu_seqlens_q: Tensor,
    cu_seqlens_k: Tensor,
    max_seqlen_q: int,
    max_seqlen_k: int,
    dropout_p: float = 0.0,
    softmax_scale: float | None = None,
    causal: bool = False,
    window_size: tuple[int, int] = EVERYTHING,
    softcap: float = 0.0,
    alibi_slopes: Tensor | None = None,
    deterministic: bool = False,
    return_attn_probs: bool = False,
    block_table: Tensor | None = None,
) -> Any:
    """q: (tokens, heads, dim), k and v: (tokens, kv_heads, dim); int32 bounds of the sequences."""
    if block_table is not None:
        raise NotImplementedError(
            "flash_attn_varlen_func with block_table: pages are for flash_attn_with_kvcache in flashpath."
        )
    result = ops.attention_varlen(
        q,
        k,
        v,
        cu_seqlens_q,
        cu_seqlens_k,
        max_seqlen_q,
        max_seqlen_k,
        causal=causal,
        window=window_size,
        softcap=softcap,
        scale=softmax_scale,
        alibi_slopes=alibi_slopes,
        dropout_p=dropout_p,
        deterministic=deterministic,
        return_lse=True,
    )
    return _with_probabilities(result, return_attn_probs, dropout_p)


def flash_attn_varlen_qkvpacked_func(
    qkv: Tensor,
    cu_seqlens: Tensor,
    max_seqlen: int,
    dropout_p: float = 0.0,
    softmax_scale: float | None = None,
    causal: bool = False,
    window_size: tuple[int, int] = EVERYTHING,
    softcap: float = 0.0,
    alibi_slopes: Tensor | None = None,
    deterministic: bool = False,
    return_attn_probs: bool = False,
) -> Any:
    """qkv: (tokens, 3, heads, dim)."""
    q, k, v = qkv.unbind(1)
    return flash_attn_varlen_func(
        q,
        k,
        v,
        cu_seqlens,
        cu_seqlens,
        max_seqlen,
        max_seqlen,
        dropout_p,
        softmax_scale,
        causal,
        window_size,
        softcap,
        alibi_slopes,
        deterministic,
        return_attn_probs,
    )


def flash_attn_varlen_kvpacked_func(
    q: Tensor,
    kv: Tensor,
    cu_seqlens_q: Tensor,
    cu_seqlens_k: Tensor,
    max_seqlen_q: int,
    max_seqlen_k: int,
    dropout_p: float = 0.0,
    softmax_scale: float | None = None,
    causal: bool = False,
    window_size: tuple[int, int] = EVERYTHING,
    softcap: float = 0.0,
    alibi_slopes: Tensor | None = None,
    deterministic: bool = False,
    return_attn_probs: bool = False,
) -> Any:
    """kv: (tokens, 2, kv_heads, dim)."""
    k, v = kv.unbind(1)
    return flash_attn_varlen_func(
        q,
        k,
        v,
        cu_seqlens_q,
        cu_seqlens_k,
        max_seqlen_q,
        max_seqlen_k,
        dropout_p,
        softmax_scale,
        causal,
        window_size,
        softcap,
        alibi_slopes,
        deterministic,
        return_attn_probs,
    )


def flash_attn_with_kvcache(
    q: Tensor,
    k_cache: Tensor,
    v_cache: Tensor,
    k: Tensor | None = None,
    v: Tensor | None = None,
    rotary_cos: Tensor | None = None,
    rotary_sin: Tensor | None = None,
    cache_seqlens: Tensor | int | None = None,
    cache_batch_idx: Tensor | None = None,
    cache_leftpad: Tensor | None = None,
    block_table: Tensor | None = None,
    softmax_scale: float | None = None,
    causal: bool = False,
    window_size: tuple[int, int] = EVERYTHING,
    softcap: float = 0.0,
    rotary_interleaved: bool = True,
    alibi_slopes: Tensor | None = None,
    num_splits: int = 0,
    return_softmax_lse: bool = False,
) -> Any:
    """A step of decoding; k and v are written into the cache. Without cache_seqlens the cache is full."""
    if cache_seqlens is None:
        pages = 1 if block_table is None else block_table.shape[1]
        cache_seqlens = k_cache.shape[1] * pages
    return ops.attention_decode(
        q,
        k_cache,
        v_cache,
        cache_seqlens=cache_seqlens,
        k=k,
        v=v,
        rotary_cos=rotary_cos,
        rotary_sin=rotary_sin,
        rotary_interleaved=rotary_interleaved,
        page_table=block_table,
        cache_batch_idx=cache_batch_idx,
        cache_leftpad=cache_leftpad,
        num_splits=num_splits or None,
        causal=causal,
        window=window_size,
        softcap=softcap,
        scale=softmax_scale,
        alibi_slopes=alibi_slopes,
        return_lse=return_softmax_lse,
    )
