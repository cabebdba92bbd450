"""flashpath among transformers' attentions: `attn_implementation="flashpath"`.

transformers asks an implementation for two functions: one makes the mask of a batch, one attends. Ours makes
none where a batch is plainly causal, perhaps in a window, since the kernels know that by themselves: also for
tokens that follow a cache. Every other batch (padding, packed sequences, images, a static cache) gets the
boolean mask that transformers makes for `sdpa`, and torch's attention, which reads masks.

Names with "flash" in them are taken for flash-attn's: transformers loads its functions, and models of images
give bounds of sequences in place of masks. Then it gets those of `compat.flash_attn`.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import threading
from typing import Any

import torch

from flashpath import ops
from flashpath.compat.flash_attn import flash_attn_func, flash_attn_varlen_func, flash_attn_with_kvcache
from flashpath.errors import FlashpathError
from flashpath.nn.calling import HALVES, takes, without_autocast
from flashpath.nn.masked import masked_attention
from flashpath.ops.scaled_dot_product import DIM_STEP, LARGEST_DIM

Tensor = torch.Tensor
NAME = "flashpath"
LEAST = (5, 0)  # of transformers: masks have their own interface, by offsets
_attention = without_autocast(ops.attention)
_torch: Any = torch
_lock = threading.Lock()
_masks: Any = None  # transformers' module, once it is registered with: no import while a model is traced


def transformers_is_there() -> bool:
    """Whether transformers can be imported."""
    return "transformers" in sys.modules or importlib.util.find_spec("transformers") is not None


def register_with_transformers() -> None:
    """Makes `attn_implementation="flashpath"` known to transformers, for all models of this process."""
    if not transformers_is_there():
        raise FlashpathError("nn.no-transformers")
    transformers: Any = importlib.import_module("transformers")
    version = tuple(int(part) for part in transformers.__version__.split(".")[:2])
    if version < LEAST:
        raise FlashpathError("nn.old-transformers", version=transformers.__version__, least=str(LEAST[0]))
    global _masks
    with _lock:
        _masks = importlib.import_module("transformers.masking_utils")
        transformers.AttentionInterface.register(NAME, attention_forward)
        transformers.AttentionMaskInterface.register(NAME, attention_mask)
        _answer_for_flash_functions()


def _answer_for_flash_functions() -> None:
    """Lets transformers find functions where it looks for those of an attention with "flash" in its name."""
    module: Any = importlib.import_module("transformers.modeling_flash_attention_utils")
    usual: Any = getattr(module, "_lazy_imports", None)
    if usual is None or getattr(usual, "answers_for_flashpath", False):
        return

    def lazy_imports(implementation: str | None, *args: Any, **kwargs: Any) -> Any:
        if implementation != NAME:
            return usual(implementation, *args, **kwargs)
        functions = flash_attn_func, flash_attn_varlen_func, flash_attn_with_kvcache
        return (*functions, module._pad_input, module._unpad_input)

    lazy_imports.answers_for_flashpath = True  # pyright: ignore[reportFunctionMemberAccess]
    module._lazy_imports = lazy_imports


# ---- The mask --------------------------------------------------------------------------------------------


def attention_mask(
    batch_size: int,
    q_length: int,
    kv_length: int,
    q_offset: Any = 0,
    kv_offset: Any = 0,
    mask_function: Any = None,
    attention_mask: Tensor | None = None,
    local_size: int | None = None,
    allow_is_causal_skip: bool = True,
    config: Any = None,
    **kwargs: Any,
) -> Tensor | None:
    """None where the kernels know the mask, else (batch, 1, queries, keys), True for what is seen."""
    ends_together = (
        isinstance(q_offset, int)
        and isinstance(kv_offset, int)
        and q_offset + q_length == kv_offset + kv_length
    )
    is_known = local_size is None or (
        local_size == getattr(config, "sliding_window", None)
        and getattr(config, "attention_chunk_size", None) is None
    )
    if allow_is_causal_skip and ends_together and is_known and _sees_all(attention_mask):
        return None
    if mask_function is not None:
        kwargs["mask_function"] = mask_function
    return _masks.sdpa_mask(
        batch_size=batch_size,
        q_length=q_length,
        kv_length=kv_length,
        q_offset=q_offset,
        kv_offset=kv_offset,
        attention_mask=attention_mask,
        local_size=local_size,
        allow_is_causal_skip=False,  # it would count on torch's own alignment of queries and keys
        config=config,
        **kwargs,
    )


def _sees_all(padding: Tensor | None) -> bool:
    if padding is None:
        return True
    return not torch.compiler.is_compiling() and bool(padding.all())


# ---- The attention ---------------------------------------------------------------------------------------


def attention_forward(
    module: torch.nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    dropout: float = 0.0,
    scaling: float | None = None,
    is_causal: bool | None = None,
    sliding_window: int | None = None,
    softcap: float | None = None,
    s_aux: Tensor | None = None,
    **kwargs: Any,
) -> tuple[Tensor, None]:
    """(batch, heads, sequence, dim), fewer heads of key and value → (batch, queries, heads, dim)."""
    if kwargs.get("cache") is not None or _has_bounds(query, attention_mask, kwargs):
        # Of sequences in one row transformers makes a mask too, which says no more than their bounds.
        return _as_flash_attn(
            *(module, query, key, value, dropout, scaling, is_causal, sliding_window),
            **{"softcap": softcap, "s_aux": s_aux, **kwargs},
        )
    causal: bool = getattr(module, "is_causal", True) if is_causal is None else is_causal
    queries, keys = query.shape[2], key.shape[2]
    window = None
    if causal and sliding_window is not None and keys > sliding_window:
        window = (sliding_window - 1, 0)
    position_bias = kwargs.get("position_bias")
    # A token behind a cache that grows with it: shapes never come again, and torch needs no plan for them.
    is_token = queries == 1 < keys and not softcap and s_aux is None and window is None
    if attention_mask is None and position_bias is None and not is_token and _fits(query, value):
        given = query, key, value
        if _torch.is_autocast_enabled(query.device.type):
            kind = _torch.get_autocast_dtype(query.device.type)
            given = query.to(kind), key.to(kind), value.to(kind)
        if given[0].dtype in HALVES and given[0].dtype == given[1].dtype == given[2].dtype:
            options: dict[str, Any] = {"causal": causal and queries > 1, "scale": scaling}
            if window is not None:
                options["window"] = window
            if softcap:
                options["softcap"] = float(softcap)
            if s_aux is not None:
                options["sinks"] = s_aux.float()
            if dropout:
                options["dropout_p"] = float(dropout)
            q, k, v = given
            out = _attention(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), **options)
            return out, None
    out = masked_attention(
        *(query, key, value, attention_mask, causal, window, dropout, scaling, softcap, s_aux, position_bias)
    )
    return out.transpose(1, 2).contiguous(), None


_BOUNDS = ("cu_seq_lens_q", "cu_seq_lens_k", "max_length_q", "max_length_k")


def _has_bounds(query: Tensor, mask: Tensor | None, given: dict[str, Any]) -> bool:
    """Whether the caller said where sequences begin that stand one after the other."""
    return (mask is None or query.shape[0] == 1) and all(given.get(key) is not None for key in _BOUNDS)


def _fits(query: Tensor, value: Tensor) -> bool:
    """Whether kernels have these dimensions, and operators take such tensors."""
    dim, v_dim = query.shape[-1], value.shape[-1]
    return (
        takes(query)
        and not (dim % DIM_STEP or v_dim % DIM_STEP)
        and max(dim, v_dim) <= LARGEST_DIM
        and 0 not in query.shape
    )


def _as_flash_attn(
    module: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    dropout: float,
    scaling: float | None,
    is_causal: bool | None,
    sliding_window: int | None,
    **kwargs: Any,
) -> Any:
    """Sequences one after the other, and pages: transformers prepares them as for flash-attn's functions."""
    integration: Any = importlib.import_module("transformers.integrations.flash_attention")
    return integration.flash_attention_forward(
        *(module, query, key, value, None),
        dropout=dropout,
        scaling=scaling,
        is_causal=is_causal,
        sliding_window=sliding_window,
        **kwargs,
    )
