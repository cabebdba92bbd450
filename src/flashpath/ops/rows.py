"""Operators along the last dimension: softmax, layer_norm, rms_norm; any leading dimensions are rows.

Their gradients are kernels, which torch cannot differentiate. Where a gradient is to be differentiated again
(create_graph=True) it is computed by torch's functions instead, in float32, from the same saved tensors.
"""

from collections.abc import Sequence
from typing import Any

import torch

from flashpath.kernels.common.norm.rows import check_backward, check_forward, check_offset, check_vectors
from flashpath.kernels.layer_norm.ladder import LADDER as LAYER_NORM
from flashpath.kernels.rms_norm.ladder import LADDER as RMS_NORM
from flashpath.kernels.softmax import host as softmax_rungs
from flashpath.kernels.softmax.ladder import LADDER as SOFTMAX
from flashpath.ops.checking import (
    SYMBOLS,
    as_rows,
    known,
    number,
    refuse,
    require_dim,
    require_tensors,
)
from flashpath.ops.norm_parts import dense, layer_norm_gradients, like, require_norm, rms_norm_gradients
from flashpath.ops.plans import planned
from flashpath.ops.plans.recording import wants_gradient
from flashpath.ops.registration import define, tell_if_slow

Tensor = torch.Tensor


def _wide(x: Tensor) -> Tensor:
    return x if x.dtype == torch.float64 else x.float()


# ---- Softmax ---------------------------------------------------------------------------------------------


def _softmax_forward(x: Tensor) -> Tensor:
    tell_if_slow("softmax", x)
    x = x.contiguous()
    out = softmax_rungs.prepare(x, None, softmax_rungs.WITH_DOUBLE).out
    return SOFTMAX.best(x, out).rung(x, out)


def _softmax_fake(x: Tensor) -> Tensor:
    return softmax_rungs.prepare(x.contiguous(), None, softmax_rungs.WITH_DOUBLE).out


def _softmax_backward(y: Tensor, dy: Tensor) -> Tensor:
    return SOFTMAX.best(y, direction="backward").rung(y.contiguous(), dy.contiguous())


def _softmax_backward_fake(y: Tensor, dy: Tensor) -> Tensor:
    return softmax_rungs.prepare_backward(y.contiguous(), dy.contiguous(), None).out


_softmax_gradient = define(
    "softmax_backward", "(Tensor y, Tensor dy) -> Tensor", _softmax_backward, _softmax_backward_fake
)


def _save_output(ctx: Any, _inputs: Sequence[Any], output: Tensor) -> None:
    ctx.save_for_backward(output)


def _softmax_vjp(ctx: Any, grad: Tensor) -> Tensor:
    (y,) = ctx.saved_tensors
    if not torch.is_grad_enabled():
        return _softmax_gradient(y, grad)
    wide, dy = _wide(y), _wide(grad)
    return (wide * (dy - (wide * dy).sum(-1, keepdim=True))).to(grad.dtype)


_softmax = define(
    "softmax", "(Tensor x) -> Tensor", _softmax_forward, _softmax_fake, _softmax_vjp, _save_output
)


@planned
def softmax(x: Tensor, dim: int = -1, dtype: torch.dtype | None = None) -> Tensor:
    """`exp(x) / sum(exp(x))` along a dimension, in one pass over memory where a row fits an SM.

    x: float32, float16, bfloat16 or float64; with `dtype`, any type, of which x is cast to this one first, as
    torch does it. A row with NaN or +inf, or of -inf alone, is NaN, as torch has
    it. Gradients of any order.
    """
    require_tensors("softmax", x=x)
    require_dim("softmax", x, dim)
    if dtype is not None:
        x = x.to(_require_dtype("softmax", dtype))
    if not x.dim():
        return _softmax(x.reshape(1)).reshape(())
    return _softmax(x.movedim(dim, -1)).movedim(-1, dim)


# ---- layer_norm ------------------------------------------------------------------------------------------


def _layer_norm_forward(
    x: Tensor, weight: Tensor | None, bias: Tensor | None, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    tell_if_slow("layer_norm", x)
    mean, rstd = (torch.empty(x.shape[0], dtype=torch.float32, device=x.device) for _ in range(2))
    x, weight, bias = x.contiguous(), dense(weight), dense(bias)
    rung = LAYER_NORM.best(x, weight, bias).rung
    return rung(x, weight, bias, eps, mean=mean, rstd=rstd), mean, rstd


def _layer_norm_fake(
    x: Tensor, weight: Tensor | None, bias: Tensor | None, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    check_forward("layer_norm", x.contiguous(), dense(weight), dense(bias), known(eps))
    mean, rstd = (x.new_empty(x.shape[:1], dtype=torch.float32) for _ in range(2))
    return like(x), mean, rstd


def _layer_norm_backward(
    dy: Tensor, x: Tensor, weight: Tensor | None, mean: Tensor, rstd: Tensor, has_bias: bool
) -> tuple[Tensor, Tensor, Tensor]:
    rung = LAYER_NORM.best(x, direction="backward").rung
    dx, dweight, dbias = rung(dy.contiguous(), x.contiguous(), dense(weight), mean, rstd, has_bias)
    nothing = [x.new_empty(0) for _ in range(2)]
    return dx, nothing[0] if dweight is None else dweight, nothing[1] if dbias is None else dbias


def _layer_norm_backward_fake(
    dy: Tensor, x: Tensor, weight: Tensor | None, mean: Tensor, rstd: Tensor, has_bias: bool
) -> tuple[Tensor, Tensor, Tensor]:
    check_backward("layer_norm", dy.contiguous(), x.contiguous(), dense(weight), rstd, mean)
    of_weight = x.new_empty(0) if weight is None else like(weight)
    dtype = x.dtype if weight is None else weight.dtype
    return like(x), of_weight, x.new_empty(x.shape[1] if has_bias else 0, dtype=dtype)


_layer_norm_gradients = define(
    "layer_norm_backward",
    "(Tensor dy, Tensor x, Tensor? weight, Tensor mean, Tensor rstd, bool has_bias)"
    " -> (Tensor, Tensor, Tensor)",
    _layer_norm_backward,
    _layer_norm_backward_fake,
)


def _save_layer_norm(ctx: Any, inputs: Sequence[Any], output: tuple[Tensor, Tensor, Tensor]) -> None:
    x, weight, bias, ctx.eps = inputs
    ctx.has_bias = bias is not None
    ctx.save_for_backward(x, weight, *output[1:])
    ctx.mark_non_differentiable(*output[1:])


def _layer_norm_vjp(ctx: Any, grad: Tensor, *_: Any) -> tuple[Tensor, Tensor | None, Tensor | None, None]:
    x, weight, mean, rstd = ctx.saved_tensors
    if torch.is_grad_enabled():
        dx, dweight, dbias = layer_norm_gradients(grad, x, weight, ctx.eps, ctx.has_bias)
        return dx.to(x.dtype), dweight, dbias, None
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


def _layer_norm_alone_forward(x: Tensor, weight: Tensor | None, bias: Tensor | None, eps: float) -> Tensor:
    tell_if_slow("layer_norm", x)
    x, weight, bias = x.contiguous(), dense(weight), dense(bias)
    return LAYER_NORM.best(x, weight, bias).rung(x, weight, bias, eps)


def _layer_norm_alone_fake(x: Tensor, weight: Tensor | None, bias: Tensor | None, eps: float) -> Tensor:
    return _layer_norm_fake(x, weight, bias, eps)[0]


_layer_norm_alone = define(
    "layer_norm_alone",
    "(Tensor x, Tensor? weight, Tensor? bias, float eps) -> Tensor",
    _layer_norm_alone_forward,
    _layer_norm_alone_fake,
)


@planned
def layer_norm(
    x: Tensor,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
    weight_offset: float = 0.0,
) -> Tensor:
    """`(x - mean) / sqrt(variance + eps) * (weight_offset + weight) + bias` over the last dimension.

    x: float32, float16 or bfloat16; weight and bias: vectors of x's type or both of float32, beside a
    float32 x both of any, or None. weight_offset: 0.0, or 1.0 for weights that are stored less one, which are
    added to in float32 first. A row with NaN or an infinity is NaN. Gradients of any order, of x, weight
    and bias.
    """
    eps = require_norm("layer_norm", x, eps, {"weight": weight, "bias": bias})
    weight_offset = number("layer_norm", "weight_offset", weight_offset)
    if not isinstance(weight_offset, SYMBOLS):
        check_offset("layer_norm", weight_offset)
    if weight_offset and weight is not None:
        check_vectors("layer_norm", as_rows(x), weight=weight, bias=bias)
        wide_bias = None if bias is None else bias.float()
        return layer_norm(x, weight.float() + weight_offset, wide_bias, eps)
    if not wants_gradient(x, weight, bias):
        return _layer_norm_alone(as_rows(x), weight, bias, eps).reshape(x.shape)
    return _layer_norm(as_rows(x), weight, bias, eps)[0].reshape(x.shape)


# ---- rms_norm --------------------------------------------------------------------------------------------


def _rms_norm_forward(
    x: Tensor, weight: Tensor | None, eps: float, offset: float = 0.0
) -> tuple[Tensor, Tensor]:
    tell_if_slow("rms_norm", x)
    rstd = torch.empty(x.shape[0], dtype=torch.float32, device=x.device)
    x, weight = x.contiguous(), dense(weight)
    rung = RMS_NORM.best(x, weight).rung
    return rung(x, weight, eps, rstd=rstd, weight_offset=offset), rstd


def _rms_norm_fake(
    x: Tensor, weight: Tensor | None, eps: float, offset: float = 0.0
) -> tuple[Tensor, Tensor]:
    check_forward("rms_norm", x.contiguous(), dense(weight), None, known(eps), known(offset))
    return like(x), x.new_empty(x.shape[:1], dtype=torch.float32)


def _rms_norm_backward(
    dy: Tensor, x: Tensor, weight: Tensor | None, rstd: Tensor, offset: float = 0.0
) -> tuple[Tensor, Tensor]:
    rung = RMS_NORM.best(x, direction="backward").rung
    dx, dweight = rung(dy.contiguous(), x.contiguous(), dense(weight), rstd, weight_offset=offset)
    return dx, x.new_empty(0) if dweight is None else dweight


def _rms_norm_backward_fake(
    dy: Tensor, x: Tensor, weight: Tensor | None, rstd: Tensor, offset: float = 0.0
) -> tuple[Tensor, Tensor]:
    check_backward("rms_norm", dy.contiguous(), x.contiguous(), dense(weight), rstd)
    return like(x), x.new_empty(0) if weight is None else like(weight)


_rms_norm_gradients = define(
    "rms_norm_backward",
    "(Tensor dy, Tensor x, Tensor? weight, Tensor rstd, float offset=0.0) -> (Tensor, Tensor)",
    _rms_norm_backward,
    _rms_norm_backward_fake,
)


def _save_rms_norm(ctx: Any, inputs: Sequence[Any], output: tuple[Tensor, Tensor]) -> None:
    x, weight, ctx.eps, ctx.offset = inputs
    ctx.save_for_backward(x, weight, output[1])
    ctx.mark_non_differentiable(output[1])


def _rms_norm_vjp(ctx: Any, grad: Tensor, *_: Any) -> tuple[Tensor, Tensor | None, None, None]:
    x, weight, rstd = ctx.saved_tensors
    if torch.is_grad_enabled():
        dx, dweight = rms_norm_gradients(grad, x.float(), weight, ctx.eps, ctx.offset)
        return dx.to(x.dtype), dweight, None, None
    dx, dweight = _rms_norm_gradients(grad, x, weight, rstd, ctx.offset)
    return dx, None if weight is None else dweight, None, None


_rms_norm = define(
    "rms_norm",
    "(Tensor x, Tensor? weight, float eps, float offset=0.0) -> (Tensor, Tensor)",
    _rms_norm_forward,
    _rms_norm_fake,
    _rms_norm_vjp,
    _save_rms_norm,
)


def _rms_norm_alone_forward(x: Tensor, weight: Tensor | None, eps: float, offset: float = 0.0) -> Tensor:
    tell_if_slow("rms_norm", x)
    x, weight = x.contiguous(), dense(weight)
    return RMS_NORM.best(x, weight).rung(x, weight, eps, weight_offset=offset)


def _rms_norm_alone_fake(x: Tensor, weight: Tensor | None, eps: float, offset: float = 0.0) -> Tensor:
    return _rms_norm_fake(x, weight, eps, offset)[0]


_rms_norm_alone = define(
    "rms_norm_alone",
    "(Tensor x, Tensor? weight, float eps, float offset=0.0) -> Tensor",
    _rms_norm_alone_forward,
    _rms_norm_alone_fake,
)


@planned
def rms_norm(
    x: Tensor, weight: Tensor | None = None, eps: float = 1e-6, weight_offset: float = 0.0
) -> Tensor:
    """`x / sqrt(mean(x²) + eps) * (weight_offset + weight)` over the last dimension.

    x: float32, float16 or bfloat16; weight: a vector of x's type or of float32, beside a float32 x of any, or
    None, for a factor of 1. weight_offset: 0.0, or 1.0 for weights that are stored less one, as Gemma's are.
    A row with NaN is NaN. eps is a number: torch's default None, the epsilon of x's type, is
    torch.finfo(x.dtype).eps. Gradients of any order, of x and weight.
    """
    eps = require_norm("rms_norm", x, eps, {"weight": weight})
    weight_offset = number("rms_norm", "weight_offset", weight_offset)
    if not wants_gradient(x, weight):
        return _rms_norm_alone(as_rows(x), weight, eps, weight_offset).reshape(x.shape)
    return _rms_norm(as_rows(x), weight, eps, weight_offset)[0].reshape(x.shape)


def _require_dtype(name: str, dtype: Any) -> torch.dtype:
    """A type of torch; whether the operator takes it, the operator says."""
    if not isinstance(dtype, torch.dtype):
        refuse("ops.no-dtype", name=name, value=f"{dtype!r:.80}")
    return dtype
