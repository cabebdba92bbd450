"""The functions of flash-attn 2.x for people: each a call of attention, attention_varlen or attention_decode.

Head dimensions that are no multiple of 8 are filled up with zeros on the way, as flash-attn does it.
"""

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar

import torch
import torch.nn.functional as F

from flashpath import ops
from flashpath.compat.flash_attn.checking import (
    called_as,
    require_given_tensors,
    require_layout,
    require_longest,
    require_one_query_each,
    require_pages,
    require_room,
    unpacked,
    whole_number,
    window_sides,
)
from flashpath.compat.flash_attn.probabilities import signed_probabilities
from flashpath.kernels.attention.problem import DIM_STEP, Options, Problem, Sequences
from flashpath.ops.attention import new_seed
from flashpath.ops.checking import number, refuse, require_flag, require_tensors
from flashpath.ops.decoding import full_lengths
from flashpath.ops.plans import planned, planned_without_gradient

Tensor = torch.Tensor
P = ParamSpec("P")
R = TypeVar("R")
Window = Sequence[int] | Tensor  # (left, right)
EVERYTHING = (-1, -1)


def filled_up(x: Tensor) -> Tensor:
    missing = -x.shape[-1] % DIM_STEP
    return F.pad(x, (0, missing)) if missing else x


def require_dim(name: str, q: Tensor) -> None:
    if not q.shape[-1]:
        refuse("compat.head-dim", name=name, shape=str(tuple(q.shape)))


def _scale(q: Tensor, given: float | None) -> float:
    return q.shape[-1] ** -0.5 if given is None else given


def their_lse(lse: Tensor) -> Tensor:
    """flash-attn has +inf, not -inf, for a query that sees nothing."""
    return lse.masked_fill(lse == -torch.inf, torch.inf)


def _attend(
    name: str,
    operator: Callable[..., Any],
    q: Tensor,
    k: Tensor,
    v: Tensor,
    sequences: Sequences | None,
    dropout_p: float,
    softmax_scale: float | None,
    causal: bool,
    window_size: Window,
    softcap: float,
    alibi_slopes: Tensor | None,
    deterministic: bool,
    return_attn_probs: bool,
) -> Any:
    """out, or with return_attn_probs (out, LSE, the probabilities: an empty tensor without dropout)."""
    require_layout(name, 4 if sequences is None else 3, q=q, k=k, v=v)
    dropout_p = number(name, "dropout_p", dropout_p)
    require_flag(name, "return_attn_probs", return_attn_probs)
    require_dim(name, q)
    window = window_sides(name, window_size)
    scale = _scale(q, softmax_scale)
    with_weights = bool(return_attn_probs and dropout_p)
    seed = new_seed(q.device) if with_weights else None
    out, lse = called_as(
        name,
        operator,
        *map(filled_up, (q, k, v)),
        *(() if sequences is None else sequences.bounds),
        causal=causal,
        window=window,
        softcap=softcap,
        scale=scale,
        alibi_slopes=alibi_slopes,
        dropout_p=dropout_p,
        dropout_seed=seed,
        deterministic=deterministic,
        return_lse=True,
    )
    out = out[..., : v.shape[-1]]
    probabilities = q.new_empty(0)
    if with_weights:
        options = Options(causal, window, softcap, scale, alibi_slopes, None, dropout_p, seed)
        probabilities = signed_probabilities(Problem(q.detach(), k.detach(), v.detach(), options, sequences))
    return (out, their_lse(lse), probabilities) if return_attn_probs else out


@planned
def flash_attn_func(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    dropout_p: float = 0.0,
    softmax_scale: float | None = None,
    causal: bool = False,
    window_size: Window = EVERYTHING,
    softcap: float = 0.0,
    alibi_slopes: Tensor | None = None,
    deterministic: bool = False,
    return_attn_probs: bool = False,
) -> Any:
    """q: (batch, queries, heads, dim), k and v: (batch, keys, kv_heads, dim)."""
    return _attend(
        "flash_attn_func",
        ops.attention,
        q,
        k,
        v,
        None,
        dropout_p,
        softmax_scale,
        causal,
        window_size,
        softcap,
        alibi_slopes,
        deterministic,
        return_attn_probs,
    )


@planned
def flash_attn_qkvpacked_func(
    qkv: Tensor,
    dropout_p: float = 0.0,
    softmax_scale: float | None = None,
    causal: bool = False,
    window_size: Window = EVERYTHING,
    softcap: float = 0.0,
    alibi_slopes: Tensor | None = None,
    deterministic: bool = False,
    return_attn_probs: bool = False,
) -> Any:
    """qkv: (batch, sequence, 3, heads, dim)."""
    q, k, v = unpacked("flash_attn_qkvpacked_func", "(batch, sequence, 3, heads, dim)", qkv=qkv)
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


@planned
def flash_attn_kvpacked_func(
    q: Tensor,
    kv: Tensor,
    dropout_p: float = 0.0,
    softmax_scale: float | None = None,
    causal: bool = False,
    window_size: Window = EVERYTHING,
    softcap: float = 0.0,
    alibi_slopes: Tensor | None = None,
    deterministic: bool = False,
    return_attn_probs: bool = False,
) -> Any:
    """kv: (batch, keys, 2, kv_heads, dim)."""
    k, v = unpacked("flash_attn_kvpacked_func", "(batch, keys, 2, kv_heads, dim)", kv=kv)
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


@planned
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
    window_size: Window = EVERYTHING,
    softcap: float = 0.0,
    alibi_slopes: Tensor | None = None,
    deterministic: bool = False,
    return_attn_probs: bool = False,
    block_table: Tensor | None = None,
) -> Any:
    """q: (tokens, heads, dim), k and v: (tokens, kv_heads, dim); int32 bounds of the sequences.

    With block_table, int32, (sequences, pages), k and v are pages: (pages, page_size, kv_heads, dim).
    """
    name = "flash_attn_varlen_func"
    require_tensors(name, cu_seqlens_q=cu_seqlens_q, cu_seqlens_k=cu_seqlens_k)
    max_seqlen_q = whole_number(name, "max_seqlen_q", max_seqlen_q)
    max_seqlen_k = whole_number(name, "max_seqlen_k", max_seqlen_k)
    options = (dropout_p, softmax_scale, causal, window_size, softcap, alibi_slopes)
    if block_table is not None:
        require_layout(name, 3, q=q)
        require_layout(name, 4, "(pages, page_size, kv_heads, dim)", k=k, v=v)
        require_tensors(name, block_table=block_table)
        require_pages(name, k, block_table, cu_seqlens_k)
        is_step = max_seqlen_q == 1 and q.shape[0] == block_table.shape[0]  # one query for each sequence
        has_gradient = torch.is_grad_enabled() and any(each.requires_grad for each in (q, k, v))
        dropout_p = number(name, "dropout_p", dropout_p)
        if is_step and not has_gradient and not dropout_p:
            require_flag(name, "deterministic", deterministic)
            require_flag(name, "return_attn_probs", return_attn_probs)
            require_one_query_each(name, q, cu_seqlens_q)
            require_longest(name, q, cu_seqlens_k, max_seqlen_k)
            lengths = cu_seqlens_k.diff()
            return decoded(q, k, v, lengths, block_table, *options[1:], return_attn_probs)
        k, v = (in_a_row(each, block_table, cu_seqlens_k) for each in (k, v))
    sequences = Sequences(cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k)
    return _attend(name, ops.attention_varlen, q, k, v, sequences, *options, deterministic, return_attn_probs)


def in_a_row(pages: Tensor, block_table: Tensor, cu_seqlens: Tensor) -> Tensor:
    """(pages, page_size, …) → the rows of all sequences, one after the other. The GPU is waited for."""
    size = pages.shape[1]
    row = torch.arange(int(cu_seqlens[-1]), device=pages.device)
    sequence = torch.searchsorted(cu_seqlens[1:].contiguous(), row, right=True)
    place = row - cu_seqlens[sequence]
    return pages[block_table[sequence, place // size].long(), place % size]


def decoded(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    lengths: Tensor,
    block_table: Tensor,
    softmax_scale: float | None,
    causal: bool,
    window_size: Window,
    softcap: float,
    alibi_slopes: Tensor | None,
    return_attn_probs: bool,
) -> Any:
    """One query for each sequence: the pages are read where they are."""
    out, lse = flash_attn_with_kvcache(
        q[:, None],
        k,
        v,
        cache_seqlens=lengths,
        block_table=block_table,
        softmax_scale=softmax_scale,
        causal=causal,
        window_size=window_size,
        softcap=softcap,
        alibi_slopes=alibi_slopes,
        return_softmax_lse=True,
    )
    return (out[:, 0], lse[:, :, 0].T.contiguous(), q.new_empty(0)) if return_attn_probs else out[:, 0]


@planned
def flash_attn_varlen_qkvpacked_func(
    qkv: Tensor,
    cu_seqlens: Tensor,
    max_seqlen: int,
    dropout_p: float = 0.0,
    softmax_scale: float | None = None,
    causal: bool = False,
    window_size: Window = EVERYTHING,
    softcap: float = 0.0,
    alibi_slopes: Tensor | None = None,
    deterministic: bool = False,
    return_attn_probs: bool = False,
) -> Any:
    """qkv: (tokens, 3, heads, dim)."""
    q, k, v = unpacked("flash_attn_varlen_qkvpacked_func", "(tokens, 3, heads, dim)", qkv=qkv)
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


@planned
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
    window_size: Window = EVERYTHING,
    softcap: float = 0.0,
    alibi_slopes: Tensor | None = None,
    deterministic: bool = False,
    return_attn_probs: bool = False,
) -> Any:
    """kv: (tokens, 2, kv_heads, dim)."""
    k, v = unpacked("flash_attn_varlen_kvpacked_func", "(tokens, 2, kv_heads, dim)", kv=kv)
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


def _checks_the_table(function: Callable[P, R]) -> Callable[P, R]:
    """Looks at the lengths before every call with a block_table, as flash-attn does: its GPU is waited for.

    Not while a graph is captured, which nothing may wait for. A plan looks at no numbers: so it is done here.
    """
    signature = inspect.signature(function)
    last = list(signature.parameters).index("block_table")

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        if (len(args) > last or "block_table" in kwargs) and not torch.compiler.is_compiling():
            try:
                given = signature.bind(*args, **kwargs).arguments
            except TypeError:
                return function(*args, **kwargs)  # which tells what is wrong
            require_room(
                function.__name__,
                *(given.get(key) for key in ("block_table", "cache_seqlens", "k_cache", "k")),
            )
        return function(*args, **kwargs)

    return call


@_checks_the_table
@planned_without_gradient
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
    window_size: Window = EVERYTHING,
    softcap: float = 0.0,
    rotary_interleaved: bool = True,
    alibi_slopes: Tensor | None = None,
    num_splits: int = 0,
    return_softmax_lse: bool = False,
) -> Any:
    """A step of decoding; k and v are written into the cache. Without cache_seqlens the cache is full."""
    name = "flash_attn_with_kvcache"
    require_layout(name, 4, q=q)
    require_dim(name, q)
    require_flag(name, "return_softmax_lse", return_softmax_lse)
    layout = (
        "(batch, capacity, kv_heads, dim)" if block_table is None else "(pages, page_size, kv_heads, dim)"
    )
    require_layout(name, 4, layout, k_cache=k_cache, v_cache=v_cache)
    require_given_tensors(name, k=k, v=v, block_table=block_table)
    window, num_splits = window_sides(name, window_size), whole_number(name, "num_splits", num_splits)
    if block_table is not None and block_table.dim() != 2:
        refuse("compat.cache-table", name=name, shape=str(tuple(block_table.shape)))
    if cache_seqlens is None:
        if k is not None:
            refuse("compat.no-lengths", name=name)
        pages = 1 if block_table is None else block_table.shape[1]
        cache_seqlens = full_lengths(q, k_cache.shape[1] * pages)
    caches = [filled_up(each) for each in (k_cache, v_cache)]
    out, lse = called_as(
        name,
        ops.attention_decode,
        filled_up(q),
        *caches,
        cache_seqlens=cache_seqlens,
        k=None if k is None else filled_up(k),
        v=None if v is None else filled_up(v),
        rotary_cos=rotary_cos,
        rotary_sin=rotary_sin,
        rotary_interleaved=rotary_interleaved,
        page_table=block_table,
        cache_batch_idx=cache_batch_idx,
        cache_leftpad=cache_leftpad,
        num_splits=num_splits or None,
        causal=causal,
        window=window,
        softcap=softcap,
        scale=_scale(q, softmax_scale),
        alibi_slopes=alibi_slopes,
        return_lse=True,
    )
    for cache, filled in zip((k_cache, v_cache), caches, strict=True):
        if k is not None and filled is not cache:
            cache.copy_(filled[..., : cache.shape[-1]])
    out = out[..., : v_cache.shape[-1]]
    return (out, their_lse(lse)) if return_softmax_lse else out
