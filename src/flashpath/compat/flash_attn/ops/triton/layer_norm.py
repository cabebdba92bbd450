"""flash_attn.ops.triton.layer_norm: dropout, the addition of residuals and a norm, as one function.

A norm, and a norm of the sum with a residual of x's type, are one launch. What few models ask for besides
(dropout, rowscale, a second input or a second norm, a residual of another type, a bias of the RMS norm) is
added up by torch in float32 first.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F

from flashpath import ops
from flashpath.ops.checking import refuse, require_tensors

__all__ = ["RMSNorm", "layer_norm_fn", "layer_norm_linear_fn", "rms_norm_fn"]

Tensor = torch.Tensor
_torch: Any = torch


def layer_norm_fn(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    residual: Tensor | None = None,
    x1: Tensor | None = None,
    weight1: Tensor | None = None,
    bias1: Tensor | None = None,
    eps: float = 1e-6,
    dropout_p: float = 0.0,
    rowscale: Tensor | None = None,
    prenorm: bool = False,
    residual_in_fp32: bool = False,
    is_rms_norm: bool = False,
    return_dropout_mask: bool = False,
    out: Tensor | None = None,
    residual_out: Tensor | None = None,
) -> Any:
    """The norm of dropout(x · rowscale) + dropout(x1) + residual; with `prenorm` that sum as well.

    With `weight1` the norm by a second weight and bias too, and with `return_dropout_mask` the two masks.
    """
    name = "rms_norm_fn" if is_rms_norm else "layer_norm_fn"
    given = {"residual": residual, "x1": x1, "weight1": weight1, "bias": bias, "rowscale": rowscale}
    require_tensors(
        name, x=x, weight=weight, **{key: each for key, each in given.items() if each is not None}
    )
    if x1 is not None and rowscale is not None:
        refuse("compat.norm-rowscale", name=name)
    is_plain = not dropout_p and rowscale is None and x1 is None
    masks: tuple[Tensor | None, Tensor | None] = (None, None)
    kind = x.dtype if residual is None else residual.dtype
    if residual is None and residual_in_fp32:
        kind = torch.float32
    if is_plain and residual is not None and kind == x.dtype and not (is_rms_norm and bias is not None):
        normed, total = _added_norm(x, residual, weight, bias, eps, is_rms_norm)
    else:
        total = x
        if not is_plain or residual is not None:
            total, masks = _summed(x, residual, x1, dropout_p, rowscale)
        normed = _norm(total, weight, bias, eps, is_rms_norm)
    result_kind = _torch.get_autocast_dtype(x.device.type) if _is_autocast(x) else x.dtype
    results = [_into(out, normed.to(result_kind))]
    if weight1 is not None:
        results.append(_norm(total, weight1, bias1, eps, is_rms_norm).to(result_kind))
    if prenorm:
        results.append(_into(residual_out, total.to(kind)))
    elif residual_out is not None:
        residual_out.copy_(total)
    if return_dropout_mask:
        return (*results, *masks)
    return tuple(results) if len(results) > 1 else results[0]


def rms_norm_fn(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    residual: Tensor | None = None,
    x1: Tensor | None = None,
    weight1: Tensor | None = None,
    bias1: Tensor | None = None,
    eps: float = 1e-6,
    dropout_p: float = 0.0,
    rowscale: Tensor | None = None,
    prenorm: bool = False,
    residual_in_fp32: bool = False,
    return_dropout_mask: bool = False,
    out: Tensor | None = None,
    residual_out: Tensor | None = None,
) -> Any:
    """`layer_norm_fn` with an RMS norm."""
    vectors = weight, bias, residual, x1, weight1, bias1
    options = eps, dropout_p, rowscale, prenorm, residual_in_fp32, True, return_dropout_mask
    return layer_norm_fn(x, *vectors, *options, out, residual_out)


def layer_norm_linear_fn(
    x: Tensor,
    norm_weight: Tensor,
    norm_bias: Tensor | None,
    linear_weight: Tensor,
    linear_bias: Tensor | None,
    residual: Tensor | None = None,
    eps: float = 1e-6,
    prenorm: bool = False,
    residual_in_fp32: bool = False,
    is_rms_norm: bool = False,
) -> Any:
    """A norm and the linear layer behind it; the product is torch's."""
    made = layer_norm_fn(
        x,
        norm_weight,
        norm_bias,
        residual,
        eps=eps,
        prenorm=prenorm,
        residual_in_fp32=residual_in_fp32,
        is_rms_norm=is_rms_norm,
    )
    normed, *more = made if prenorm else (made,)
    kind = normed.dtype if _is_autocast(x) else linear_weight.dtype
    bias = None if linear_bias is None else linear_bias.to(kind)
    product = F.linear(normed.to(kind), linear_weight.to(kind), bias)
    return (product, *more) if prenorm else product


class RMSNorm(torch.nn.Module):
    """flash-attn's module: `rms_norm_fn` with a weight of its own."""

    bias: None

    def __init__(
        self,
        hidden_size: int,
        eps: float = 1e-5,
        dropout_p: float = 0.0,
        device: Any = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.eps = eps
        self.drop = torch.nn.Dropout(dropout_p) if dropout_p > 0 else None
        self.weight = torch.nn.Parameter(torch.ones(hidden_size, device=device, dtype=dtype))
        self.register_parameter("bias", None)

    def reset_parameters(self) -> None:
        torch.nn.init.ones_(self.weight)

    def forward(
        self,
        x: Tensor,
        residual: Tensor | None = None,
        prenorm: bool = False,
        residual_in_fp32: bool = False,
    ) -> Any:
        return rms_norm_fn(
            x,
            self.weight,
            self.bias,
            residual=residual,
            eps=self.eps,
            dropout_p=self.drop.p if self.drop is not None and self.training else 0.0,
            prenorm=prenorm,
            residual_in_fp32=residual_in_fp32,
        )


# ---- Parts -----------------------------------------------------------------------------------------------


def _is_autocast(x: Tensor) -> bool:
    return _torch.is_autocast_enabled(x.device.type)


def _vectors(x: Tensor, *vectors: Tensor | None) -> list[Tensor | None]:
    """Weight and bias in a type that the kernel has beside x's."""
    kinds = {each.dtype for each in vectors if each is not None}
    if len(kinds) == 1 and (kinds <= {x.dtype, torch.float32} or x.dtype == torch.float32):
        return list(vectors)
    return [None if each is None else each.float() for each in vectors]


def _norm(x: Tensor, weight: Tensor, bias: Tensor | None, eps: float, is_rms_norm: bool) -> Tensor:
    if not is_rms_norm:
        factor, shift = _vectors(x, weight, bias)
        return ops.layer_norm(x, factor, shift, eps)
    if bias is None:
        return ops.rms_norm(x, _vectors(x, weight)[0], eps)
    return ops.rms_norm(x.float(), weight.float(), eps) + bias.float()


def _added_norm(
    x: Tensor, residual: Tensor, weight: Tensor, bias: Tensor | None, eps: float, is_rms_norm: bool
) -> tuple[Tensor, Tensor]:
    if is_rms_norm:
        return ops.add_rms_norm(x, residual, _vectors(x, weight)[0], eps)
    factor, shift = _vectors(x, weight, bias)
    return ops.add_layer_norm(x, residual, factor, shift, eps)


def _summed(
    x: Tensor, residual: Tensor | None, x1: Tensor | None, dropout_p: float, rowscale: Tensor | None
) -> tuple[Tensor, tuple[Tensor | None, Tensor | None]]:
    """The sum in float32, and which elements of each input were kept."""
    total = x.float()
    if rowscale is not None:
        total = total * rowscale[..., None].float()
    total, mask = _dropped(total, dropout_p)
    mask1 = None
    if x1 is not None:
        second, mask1 = _dropped(x1.float(), dropout_p)
        total = total + second
    return (total if residual is None else total + residual.float()), (mask, mask1)


def _dropped(x: Tensor, dropout_p: float) -> tuple[Tensor, Tensor | None]:
    if not dropout_p:
        return x, None
    keeps = torch.rand_like(x) >= dropout_p
    return torch.where(keeps, x / (1.0 - dropout_p), 0), keeps


def _into(given: Tensor | None, result: Tensor) -> Tensor:
    return result if given is None else given.copy_(result)
