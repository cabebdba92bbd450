"""The addition of a residual and the norm of the sum, in one pass: add_rms_norm, add_layer_norm.

A block of a transformer adds its result to the stream of activations and normalises that. Both are returned,
and the gradient of the sum that comes from further down the stream is added to the norm's own where that is
written. Gradients that are differentiated again are torch's formulas, as for the norms alone.
"""

from collections.abc import Sequence
from typing import Any

import torch

from flashpath.kernels.arguments import require_like
from flashpath.kernels.common.norm.rows import check_backward, check_forward
from flashpath.kernels.layer_norm.ladder import LADDER as LAYER_NORM
from flashpath.kernels.rms_norm.ladder import LADDER as RMS_NORM
from flashpath.ops.checking import as_rows, known, number
from flashpath.ops.norm_parts import (
    dense,
    layer_norm_gradients,
    like,
    require_norm,
    require_residual,
    rms_norm_gradients,
)
from flashpath.ops.plans import planned
from flashpath.ops.plans.recording import wants_gradient
from flashpath.ops.registration import define, tell_if_slow

Tensor = torch.Tensor


def _plus(dx: Tensor, added: Tensor | None) -> Tensor:
    return dx if added is None else dx + added.float()


# ---- add_rms_norm ----------------------------------------------------------------------------------------


def _add_rms_norm_forward(
    x: Tensor, residual: Tensor, weight: Tensor | None, eps: float, offset: float = 0.0
) -> tuple[Tensor, Tensor, Tensor]:
    tell_if_slow("add_rms_norm", x)
    rstd = torch.empty(x.shape[0], dtype=torch.float32, device=x.device)
    x, residual, weight = x.contiguous(), residual.contiguous(), dense(weight)
    rung = RMS_NORM.best(x, weight, direction="add").rung
    return *rung(x, weight, eps, residual, rstd=rstd, weight_offset=offset), rstd


def _add_rms_norm_fake(
    x: Tensor, residual: Tensor, weight: Tensor | None, eps: float, offset: float = 0.0
) -> tuple[Tensor, Tensor, Tensor]:
    check_forward("rms_norm", x.contiguous(), dense(weight), None, known(eps), known(offset))
    require_like("rms_norm", "residual", residual.contiguous(), x.shape, x.dtype, x.device)
    return like(x), like(x), x.new_empty(x.shape[:1], dtype=torch.float32)


def _add_rms_norm_backward(
    dy: Tensor, added: Tensor | None, total: Tensor, weight: Tensor | None, rstd: Tensor, offset: float
) -> tuple[Tensor, Tensor]:
    rung = RMS_NORM.best(total, direction="backward").rung
    given = dy.contiguous(), total.contiguous(), dense(weight), rstd, dense(added)
    dx, dweight = rung(*given, weight_offset=offset)
    return dx, total.new_empty(0) if dweight is None else dweight


def _add_rms_norm_backward_fake(
    dy: Tensor, added: Tensor | None, total: Tensor, weight: Tensor | None, rstd: Tensor, offset: float
) -> tuple[Tensor, Tensor]:
    given = dy.contiguous(), total.contiguous(), dense(weight), rstd
    check_backward("rms_norm", *given, added=dense(added), offset=known(offset))
    return like(total), total.new_empty(0) if weight is None else like(weight)


_rms_gradients = define(
    "add_rms_norm_backward",
    "(Tensor dy, Tensor? added, Tensor total, Tensor? weight, Tensor rstd, float offset) -> (Tensor, Tensor)",
    _add_rms_norm_backward,
    _add_rms_norm_backward_fake,
)


def _save_rms_norm(ctx: Any, inputs: Sequence[Any], output: tuple[Tensor, Tensor, Tensor]) -> None:
    _, _, weight, ctx.eps, ctx.offset = inputs
    _, total, rstd = output
    ctx.save_for_backward(total, weight, rstd)
    ctx.mark_non_differentiable(rstd)
    ctx.set_materialize_grads(False)


def _rms_norm_vjp(ctx: Any, dy: Tensor | None, added: Tensor | None, *_: Any) -> tuple[Any, ...]:
    total, weight, rstd = ctx.saved_tensors
    if dy is None:  # nobody used the norm
        return added, added, None, None, None
    if torch.is_grad_enabled():
        dx, dweight = rms_norm_gradients(dy, total.float(), weight, ctx.eps, ctx.offset)
        dx = _plus(dx, added).to(total.dtype)
    else:
        dx, dweight = _rms_gradients(dy, added, total, weight, rstd, ctx.offset)
    return dx, dx, None if weight is None else dweight, None, None


_add_rms_norm = define(
    "add_rms_norm",
    "(Tensor x, Tensor residual, Tensor? weight, float eps, float offset=0.0) -> (Tensor, Tensor, Tensor)",
    _add_rms_norm_forward,
    _add_rms_norm_fake,
    _rms_norm_vjp,
    _save_rms_norm,
)


def _add_rms_norm_alone_forward(
    x: Tensor, residual: Tensor, weight: Tensor | None, eps: float, offset: float = 0.0
) -> tuple[Tensor, Tensor]:
    tell_if_slow("add_rms_norm", x)
    x, residual, weight = x.contiguous(), residual.contiguous(), dense(weight)
    return RMS_NORM.best(x, weight, direction="add").rung(x, weight, eps, residual, weight_offset=offset)


def _add_rms_norm_alone_fake(
    x: Tensor, residual: Tensor, weight: Tensor | None, eps: float, offset: float = 0.0
) -> tuple[Tensor, Tensor]:
    return _add_rms_norm_fake(x, residual, weight, eps, offset)[:2]


_add_rms_norm_alone = define(
    "add_rms_norm_alone",
    "(Tensor x, Tensor residual, Tensor? weight, float eps, float offset=0.0) -> (Tensor, Tensor)",
    _add_rms_norm_alone_forward,
    _add_rms_norm_alone_fake,
)


@planned
def add_rms_norm(
    x: Tensor, residual: Tensor, weight: Tensor | None = None, eps: float = 1e-6, weight_offset: float = 0.0
) -> tuple[Tensor, Tensor]:
    """`rms_norm(x + residual)` over the last dimension, and the sum `x + residual`, in one pass.

    The sum is rounded to x's type, and what is normalised is the rounded sum. Types (float32, float16 or
    bfloat16), NaN and the other arguments are those of `rms_norm`; residual has x's shape and type. Gradients
    of any order, of x, residual and weight.
    """
    eps = require_norm("add_rms_norm", x, eps, {"weight": weight}, residual=residual)
    weight_offset = number("add_rms_norm", "weight_offset", weight_offset)
    require_residual("add_rms_norm", x, residual)
    given = as_rows(x), as_rows(residual), weight, eps, weight_offset
    wants = wants_gradient(x, residual, weight)
    normed, total = _add_rms_norm(*given)[:2] if wants else _add_rms_norm_alone(*given)
    return normed.reshape(x.shape), total.reshape(x.shape)


# ---- add_layer_norm --------------------------------------------------------------------------------------


def _add_layer_norm_forward(
    x: Tensor, residual: Tensor, weight: Tensor | None, bias: Tensor | None, eps: float
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    tell_if_slow("add_layer_norm", x)
    mean, rstd = (torch.empty(x.shape[0], dtype=torch.float32, device=x.device) for _ in range(2))
    x, residual, weight, bias = x.contiguous(), residual.contiguous(), dense(weight), dense(bias)
    rung = LAYER_NORM.best(x, weight, bias, direction="add").rung
    return *rung(x, weight, bias, eps, residual, mean=mean, rstd=rstd), mean, rstd


def _add_layer_norm_fake(
    x: Tensor, residual: Tensor, weight: Tensor | None, bias: Tensor | None, eps: float
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    check_forward("layer_norm", x.contiguous(), dense(weight), dense(bias), known(eps))
    require_like("layer_norm", "residual", residual.contiguous(), x.shape, x.dtype, x.device)
    mean, rstd = (x.new_empty(x.shape[:1], dtype=torch.float32) for _ in range(2))
    return like(x), like(x), mean, rstd


def _add_layer_norm_backward(
    dy: Tensor,
    added: Tensor | None,
    total: Tensor,
    weight: Tensor | None,
    mean: Tensor,
    rstd: Tensor,
    has_bias: bool,
) -> tuple[Tensor, Tensor, Tensor]:
    rung = LAYER_NORM.best(total, direction="backward").rung
    given = dy.contiguous(), total.contiguous(), dense(weight), mean, rstd, has_bias, dense(added)
    dx, dweight, dbias = rung(*given)
    nothing = [total.new_empty(0) for _ in range(2)]
    return dx, nothing[0] if dweight is None else dweight, nothing[1] if dbias is None else dbias


def _add_layer_norm_backward_fake(
    dy: Tensor,
    added: Tensor | None,
    total: Tensor,
    weight: Tensor | None,
    mean: Tensor,
    rstd: Tensor,
    has_bias: bool,
) -> tuple[Tensor, Tensor, Tensor]:
    given = dy.contiguous(), total.contiguous(), dense(weight), rstd, mean
    check_backward("layer_norm", *given, added=dense(added))
    of_weight = total.new_empty(0) if weight is None else like(weight)
    dtype = total.dtype if weight is None else weight.dtype
    return like(total), of_weight, total.new_empty(total.shape[1] if has_bias else 0, dtype=dtype)


_layer_gradients = define(
    "add_layer_norm_backward",
    "(Tensor dy, Tensor? added, Tensor total, Tensor? weight, Tensor mean, Tensor rstd, bool has_bias)"
    " -> (Tensor, Tensor, Tensor)",
    _add_layer_norm_backward,
    _add_layer_norm_backward_fake,
)


def _save_layer_norm(ctx: Any, inputs: Sequence[Any], output: tuple[Tensor, Tensor, Tensor, Tensor]) -> None:
    _, _, weight, bias, ctx.eps = inputs
    _, total, mean, rstd = output
    ctx.has_bias = bias is not None
    ctx.save_for_backward(total, weight, mean, rstd)
    ctx.mark_non_differentiable(mean, rstd)
    ctx.set_materialize_grads(False)


def _layer_norm_vjp(ctx: Any, dy: Tensor | None, added: Tensor | None, *_: Any) -> tuple[Any, ...]:
    total, weight, mean, rstd = ctx.saved_tensors
    if dy is None:
        return added, added, None, None, None
    if torch.is_grad_enabled():
        dx, dweight, dbias = layer_norm_gradients(dy, total, weight, ctx.eps, ctx.has_bias)
        dx = _plus(dx, added).to(total.dtype)
    else:
        dx, dweight, dbias = _layer_gradients(dy, added, total, weight, mean, rstd, ctx.has_bias)
    return dx, dx, None if weight is None else dweight, dbias if ctx.has_bias else None, None


_add_layer_norm = define(
    "add_layer_norm",
    "(Tensor x, Tensor residual, Tensor? weight, Tensor? bias, float eps)"
    " -> (Tensor, Tensor, Tensor, Tensor)",
    _add_layer_norm_forward,
    _add_layer_norm_fake,
    _layer_norm_vjp,
    _save_layer_norm,
)


def _add_layer_norm_alone_forward(
    x: Tensor, residual: Tensor, weight: Tensor | None, bias: Tensor | None, eps: float
) -> tuple[Tensor, Tensor]:
    tell_if_slow("add_layer_norm", x)
    x, residual, weight, bias = x.contiguous(), residual.contiguous(), dense(weight), dense(bias)
    return LAYER_NORM.best(x, weight, bias, direction="add").rung(x, weight, bias, eps, residual)


def _add_layer_norm_alone_fake(
    x: Tensor, residual: Tensor, weight: Tensor | None, bias: Tensor | None, eps: float
) -> tuple[Tensor, Tensor]:
    return _add_layer_norm_fake(x, residual, weight, bias, eps)[:2]


_add_layer_norm_alone = define(
    "add_layer_norm_alone",
    "(Tensor x, Tensor residual, Tensor? weight, Tensor? bias, float eps) -> (Tensor, Tensor)",
    _add_layer_norm_alone_forward,
    _add_layer_norm_alone_fake,
)


@planned
def add_layer_norm(
    x: Tensor,
    residual: Tensor,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> tuple[Tensor, Tensor]:
    """`layer_norm(x + residual)` over the last dimension, and the sum `x + residual`, in one pass.

    The sum is rounded to x's type, and what is normalised is the rounded sum. Types (float32, float16 or
    bfloat16), NaN and the other arguments are those of `layer_norm`; residual has x's shape and type.
    Gradients of any order, of x, residual, weight and bias.
    """
    vectors = {"weight": weight, "bias": bias}
    eps = require_norm("add_layer_norm", x, eps, vectors, residual=residual)
    require_residual("add_layer_norm", x, residual)
    given = as_rows(x), as_rows(residual), weight, bias, eps
    wants = wants_gradient(x, residual, weight, bias)
    normed, total = _add_layer_norm(*given)[:2] if wants else _add_layer_norm_alone(*given)
    return normed.reshape(x.shape), total.reshape(x.shape)
