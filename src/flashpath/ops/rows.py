"""Operators along the last dimension: softmax, layer_norm, rms_norm; any leading dimensions are rows."""

from collections.abc import Sequence
from typing import Any

import torch

from flashpath.errors import FlashpathError
from flashpath.kernels.layer_norm import host as layer_norm_rungs
from flashpath.kernels.rms_norm import host as rms_norm_rungs
from flashpath.kernels.softmax import host as softmax_rungs
from flashpath.ops.registration import define, tell_if_slow

Tensor = torch.Tensor


# ---- Softmax ---------------------------------------------------------------------------------------------


def _softmax_forward(x: Tensor) -> Tensor:
    tell_if_slow("softmax", x)
    return softmax_rungs.softmax(x.contiguous())


def _softmax_backward(y: Tensor, dy: Tensor) -> Tensor:
    return softmax_rungs.softmax_backward(y, dy.contiguous())


def _like(x: Tensor, *_: Any) -> Tensor:
    return torch.empty_like(x, memory_format=torch.contiguous_format)


_softmax_gradient = define("softmax_backward", "(Tensor y, Tensor dy) -> Tensor", _softmax_backward, _like)


def _save_output(ctx: Any, _inputs: Sequence[Any], output: Tensor) -> None:
    ctx.save_for_backward(output)


def _softmax_vjp(ctx: Any, grad: Tensor) -> Tensor:
    return _softmax_gradient(ctx.saved_tensors[0], grad)


_softmax = define("softmax", "(Tensor x) -> Tensor", _softmax_forward, _like, _softmax_vjp, _save_output)


def softmax(x: Tensor, dim: int = -1) -> Tensor:
    """`exp(x) / sum(exp(x))` along a dimension, in one pass over memory where a row fits an SM."""
    if not x.dim():
        return _softmax(x.reshape(1)).reshape(())
    if not -x.dim() <= dim < x.dim():
        raise FlashpathError(
            f"softmax got dim={dim} for a tensor of shape {tuple(x.shape)}.", "Pass one it has."
        )
    return _softmax(x.movedim(dim, -1)).movedim(-1, dim)


# ---- layer_norm ------------------------------------------------------------------------------------------


def _layer_norm_forward(
    x: Tensor, weight: Tensor | None, bias: Tensor | None, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    tell_if_slow("layer_norm", x)
    mean, rstd = (torch.empty(x.shape[0], dtype=torch.float32, device=x.device) for _ in range(2))
    out = layer_norm_rungs.fastest(x.contiguous(), weight, bias, eps, mean, rstd)
    return out, mean, rstd


def _layer_norm_fake(x: Tensor, _weight: Any, _bias: Any, _eps: float) -> tuple[Tensor, Tensor, Tensor]:
    mean, rstd = (x.new_empty(x.shape[:1], dtype=torch.float32) for _ in range(2))
    return _like(x), mean, rstd


def _layer_norm_backward(
    dy: Tensor, x: Tensor, weight: Tensor | None, mean: Tensor, rstd: Tensor, has_bias: bool
) -> tuple[Tensor, Tensor, Tensor]:
    dx, dweight, dbias = layer_norm_rungs.backward_fused(
        dy.contiguous(), x.contiguous(), weight, mean, rstd, has_bias
    )
    nothing = [x.new_empty(0) for _ in range(2)]
    return dx, nothing[0] if dweight is None else dweight, nothing[1] if dbias is None else dbias


def _layer_norm_backward_fake(
    _dy: Tensor, x: Tensor, weight: Tensor | None, _mean: Tensor, _rstd: Tensor, has_bias: bool
) -> tuple[Tensor, Tensor, Tensor]:
    of_weight = x.new_empty(0) if weight is None else torch.empty_like(weight)
    dtype = x.dtype if weight is None else weight.dtype
    return _like(x), of_weight, x.new_empty(x.shape[1] if has_bias else 0, dtype=dtype)


_layer_norm_gradients = define(
    "layer_norm_backward",
    "(Tensor dy, Tensor x, Tensor? weight, Tensor mean, Tensor rstd, bool has_bias)"
    " -> (Tensor, Tensor, Tensor)",
    _layer_norm_backward,
    _layer_norm_backward_fake,
)


def _save_layer_norm(ctx: Any, inputs: Sequence[Any], output: tuple[Tensor, Tensor, Tensor]) -> None:
    x, weight, bias, _ = inputs
    ctx.has_bias = bias is not None
    ctx.save_for_backward(x, weight, *output[1:])
    ctx.mark_non_differentiable(*output[1:])


def _layer_norm_vjp(ctx: Any, grad: Tensor, *_: Any) -> tuple[Tensor, Tensor | None, Tensor | None, None]:
    x, weight, mean, rstd = ctx.saved_tensors
    dx, dweight, dbias = _layer_norm_gradients(grad, x, weight, mean, rstd, ctx.has_bias)
    return dx, None if weight is None else dweight, dbias if ctx.has_bias else None, None


_layer_norm = define(
    "layer_norm",
    "(Tensor x, Tensor? weight, Tensor? bias, float eps) -> (Tensor, Tensor, Tensor)",
    _layer_norm_forward,
    _layer_norm_fake,
    _layer_norm_vjp,
    _save_layer_norm,
)


def layer_norm(
    x: Tensor, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    """`(x - mean) / sqrt(variance + eps) * weight + bias` over the last dimension."""
    rows = _as_rows("layer_norm", x)
    return _layer_norm(rows, weight, bias, eps)[0].reshape(x.shape)


# ---- rms_norm --------------------------------------------------------------------------------------------


def _rms_norm_forward(x: Tensor, weight: Tensor | None, eps: float) -> tuple[Tensor, Tensor]:
    tell_if_slow("rms_norm", x)
    rstd = torch.empty(x.shape[0], dtype=torch.float32, device=x.device)
    return rms_norm_rungs.fastest(x.contiguous(), weight, eps, rstd), rstd


def _rms_norm_fake(x: Tensor, _weight: Any, _eps: float) -> tuple[Tensor, Tensor]:
    return _like(x), x.new_empty(x.shape[:1], dtype=torch.float32)


def _rms_norm_backward(dy: Tensor, x: Tensor, weight: Tensor | None, rstd: Tensor) -> tuple[Tensor, Tensor]:
    dx, dweight = rms_norm_rungs.backward_fused(dy.contiguous(), x.contiguous(), weight, rstd)
    return dx, x.new_empty(0) if dweight is None else dweight


def _rms_norm_backward_fake(
    _dy: Tensor, x: Tensor, weight: Tensor | None, _rstd: Tensor
) -> tuple[Tensor, Tensor]:
    return _like(x), x.new_empty(0) if weight is None else torch.empty_like(weight)


_rms_norm_gradients = define(
    "rms_norm_backward",
    "(Tensor dy, Tensor x, Tensor? weight, Tensor rstd) -> (Tensor, Tensor)",
    _rms_norm_backward,
    _rms_norm_backward_fake,
)


def _save_rms_norm(ctx: Any, inputs: Sequence[Any], output: tuple[Tensor, Tensor]) -> None:
    x, weight, _ = inputs
    ctx.save_for_backward(x, weight, output[1])
    ctx.mark_non_differentiable(output[1])


def _rms_norm_vjp(ctx: Any, grad: Tensor, *_: Any) -> tuple[Tensor, Tensor | None, None]:
    x, weight, rstd = ctx.saved_tensors
    dx, dweight = _rms_norm_gradients(grad, x, weight, rstd)
    return dx, None if weight is None else dweight, None


_rms_norm = define(
    "rms_norm",
    "(Tensor x, Tensor? weight, float eps) -> (Tensor, Tensor)",
    _rms_norm_forward,
    _rms_norm_fake,
    _rms_norm_vjp,
    _save_rms_norm,
)


def rms_norm(x: Tensor, weight: Tensor | None = None, eps: float = 1e-6) -> Tensor:
    """`x / sqrt(mean(x²) + eps) * weight` over the last dimension."""
    return _rms_norm(_as_rows("rms_norm", x), weight, eps)[0].reshape(x.shape)


def _as_rows(name: str, x: Tensor) -> Tensor:
    if not x.dim():
        raise FlashpathError(f"{name} got a tensor without dimensions.", "It normalises the last dimension.")
    return x.reshape(-1, x.shape[-1])
