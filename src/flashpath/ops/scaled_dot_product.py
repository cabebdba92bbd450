"""`scaled_dot_product_attention`: `attention` by torch's signature, layout, causal alignment and autocast."""

from typing import Any

import torch
from torch.nn.attention.bias import CausalBias, CausalVariant

from flashpath.kernels.attention.problem import DIM_STEP, HALVES, LARGEST_DIM
from flashpath.kernels.building import dtype_name
from flashpath.ops.attention import attention
from flashpath.ops.checking import called_as, number, refuse, require_flag, require_tensors

Tensor = torch.Tensor
NAME = "scaled_dot_product_attention"
_torch: Any = torch


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """`torch.nn.functional.scaled_dot_product_attention` on the kernels of `attention`.

    query: (…, heads, queries, dim), key: (…, heads, keys, dim), value: (…, heads, keys, v_dim), float16 or
    bfloat16; under autocast what torch casts. Dimensions before the last two broadcast; with `enable_gqa` the
    heads of query are a multiple of those of key and value. `is_causal` puts the first query at the first
    key. Any head dimension up to 256: what is no multiple of 8 is padded. Gradients: of query, key and value.

    As `attn_mask` it takes `torch.nn.attention.bias.causal_upper_left` and `causal_lower_right`; other masks
    are refused, since the kernels compute masks and read none.
    """
    require_tensors(NAME, query=query, key=key, value=value)
    require_flag(NAME, "is_causal", is_causal)
    require_flag(NAME, "enable_gqa", enable_gqa)
    scale = None if scale is None else number(NAME, "scale", scale)
    device = query.device.type
    if _torch.is_autocast_enabled(device):
        dtype = _torch.get_autocast_dtype(device)
        query, key, value = (_autocast(x, dtype) for x in (query, key, value))
        with torch.autocast(device, enabled=False):
            return _attend(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa)
    return _attend(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa)


def _autocast(x: Tensor, dtype: torch.dtype) -> Tensor:
    """Casts what autocast casts: floats but for float64."""
    return x.to(dtype) if x.is_floating_point() and x.dtype != torch.float64 else x


def _attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    dropout_p: float,
    is_causal: bool,
    scale: float | None,
    enable_gqa: bool,
) -> Tensor:
    _check(query, key, value)
    lower_right, is_causal = _mask(query, key, mask, is_causal)
    dims, dim, v_dim = query.dim(), query.shape[-1], value.shape[-1]
    q, k, v = _together(query, key, value, enable_gqa)
    queries, keys = q.shape[-2], k.shape[-2]
    window = None
    if is_causal and not lower_right and queries != keys:
        if queries < keys:  # no query sees the keys behind the last query
            k, v = k[..., :queries, :], v[..., :queries, :]
        else:
            is_causal, window = False, (-1, queries - keys)
    batch = q.shape[:-3]
    q, k, v = (x.reshape(-1, *x.shape[-3:]).transpose(1, 2) for x in (q, k, v))
    out = called_as(
        NAME,
        attention,
        *(_padded(x) for x in (q, k, v)),
        causal=is_causal,
        window=window,
        scale=dim**-0.5 if scale is None else scale,
        dropout_p=dropout_p,
    )[..., :v_dim]
    out = out.transpose(1, 2).reshape(*batch, *(out.shape[i] for i in (2, 1, 3)))
    return out if dims > 2 else out.squeeze(0)


def _padded(x: Tensor) -> Tensor:
    """Zeros add nothing to a score, and what they give of a value is cut off."""
    more = -x.shape[-1] % DIM_STEP
    return torch.nn.functional.pad(x, (0, more)) if more else x


# ---- Masks -----------------------------------------------------------------------------------------------


def _mask(query: Tensor, key: Tensor, mask: Any, is_causal: bool) -> tuple[bool, bool]:
    """Returns whether the last query stands at the last key, and whether there is a causal mask at all."""
    if mask is None:
        return False, is_causal
    if not isinstance(mask, Tensor):
        refuse("ops.no-tensor", name=NAME, key="attn_mask", x=f"{mask!r:.80}")
    if is_causal:
        refuse("ops.sdpa-two-masks", name=NAME)
    if not isinstance(mask, CausalBias):
        refuse("ops.sdpa-mask", name=NAME, shape=str(tuple(mask.shape)), dtype=dtype_name(mask))
    sizes = mask.seq_len_q, mask.seq_len_kv
    if sizes != (query.shape[-2], key.shape[-2]):
        refuse("ops.sdpa-bias", name=NAME, sizes=str(sizes), queries=query.shape[-2], keys=key.shape[-2])
    return mask.variant == CausalVariant.LOWER_RIGHT, True


# ---- Shapes ----------------------------------------------------------------------------------------------


def _check(query: Tensor, key: Tensor, value: Tensor) -> None:
    for name, x in (("query", query), ("key", key), ("value", value)):
        if dtype_name(x) not in HALVES:
            refuse("ops.sdpa-dtype", name=NAME, key=name, dtype=dtype_name(x), dtypes=list(HALVES))
        if x.dim() < 2 or x.dim() != query.dim():
            shapes = [str(tuple(each.shape)) for each in (query, key, value)]
            refuse("ops.sdpa-dims", name=NAME, shapes=shapes)
        if x.dtype != query.dtype or x.device != query.device:
            refuse(
                "ops.sdpa-unlike",
                name=NAME,
                dtype=dtype_name(query),
                device=str(query.device),
                key=name,
                dtype2=dtype_name(x),
                device2=str(x.device),
            )
        if not 0 < x.shape[-1] <= LARGEST_DIM:
            refuse("ops.sdpa-dim", name=NAME, key=name, dim=x.shape[-1], largest_dim=LARGEST_DIM)
    if query.shape[-1] != key.shape[-1] or key.shape[-2] != value.shape[-2]:
        _refuse_shapes(query, key, value)


def _together(query: Tensor, key: Tensor, value: Tensor, enable_gqa: bool) -> tuple[Tensor, Tensor, Tensor]:
    """(…, heads, sequence, dim) with the same batch; one head of key and value is shared by all of query."""
    if query.dim() == 2:
        query, key, value = (x.unsqueeze(0) for x in (query, key, value))
    heads, kv_heads, v_heads = (x.shape[-3] for x in (query, key, value))
    if enable_gqa:
        if kv_heads != v_heads or not kv_heads or heads % kv_heads:
            refuse("ops.sdpa-heads", name=NAME, heads=heads, kv_heads=kv_heads, v_heads=v_heads)
        wanted = heads, kv_heads, kv_heads
    else:
        most = max(heads, kv_heads, v_heads)
        if any(each not in (1, most) for each in (heads, kv_heads, v_heads)):
            refuse("ops.sdpa-heads", name=NAME, heads=heads, kv_heads=kv_heads, v_heads=v_heads)
        wanted = most, max(kv_heads, v_heads), max(kv_heads, v_heads)
    batches = [x.shape[:-3] for x in (query, key, value)]
    if batches[0] == batches[1] == batches[2]:
        batch = batches[0]
    else:
        try:
            batch = tuple(_torch.broadcast_shapes(*batches))
        except RuntimeError:
            _refuse_shapes(query, key, value)
            raise  # never: the line before does
    q, k, v = (
        x if (*batch, each) == (*x.shape[:-2],) else x.expand(*batch, each, *x.shape[-2:])
        for x, each in zip((query, key, value), wanted, strict=True)
    )
    return q, k, v


def _refuse_shapes(query: Tensor, key: Tensor, value: Tensor) -> None:
    shapes = [str(tuple(each.shape)) for each in (query, key, value)]
    refuse("ops.sdpa-shapes", name=NAME, shapes=shapes)
