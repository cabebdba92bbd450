"""`linear_cross_entropy`: the last product of a model and its loss, without ever having all logits.

Some rows of x at a time are multiplied by the weight, and their logits live until the next take their place.
For a mean or a sum the gradients are made on the way, of the sum of the losses, and multiplied by the loss's
own gradient in the backward direction: three products in all, where computing the logits again takes four.
Where each row's loss has a gradient of its own, and where a gradient is asked for a second time, they are
computed again. docs/decisions/0026-linear-cross-entropy.md has the counts.
"""

from collections.abc import Sequence
from typing import Any, Literal, overload

import torch

from flashpath.errors import FlashpathError
from flashpath.kernels.arguments import FLOATS, require_like, require_tensor
from flashpath.kernels.attention.reference import own_precision
from flashpath.kernels.cross_entropy import host
from flashpath.kernels.cross_entropy import reference as formulas
from flashpath.kernels.cross_entropy.ladder import LADDER
from flashpath.kernels.cross_entropy.options import Options
from flashpath.ops.checking import as_rows, refuse, require_tensors
from flashpath.ops.logits_in_parts import Logits, Sums, places
from flashpath.ops.losses import Reduction, known_options, require_options, weighed
from flashpath.ops.norm_parts import dense
from flashpath.ops.plans import is_followed
from flashpath.ops.plans.recording import wants_gradient
from flashpath.ops.registration import define, tell_if_slow

Tensor = torch.Tensor
NAME = "linear_cross_entropy"
_TENSORS = "Tensor x, Tensor weight, Tensor? bias, Tensor target"
_OPTIONS = "int ignore_index, float label_smoothing, float z_loss, float softcap"
_WANTED = "bool wants_x, bool wants_weight, bool wants_bias"


def _check(x: Tensor, weight: Tensor, bias: Tensor | None, target: Tensor, options: Options) -> None:
    require_tensor(NAME, "x", x, FLOATS, dims=2)
    if weight.dim() != 2 or weight.shape[1] != x.shape[1]:
        raise FlashpathError(
            "ops.linear-weight", name=NAME, shape=str(tuple(weight.shape)), hidden=str(x.shape[1])
        )
    require_like(NAME, "weight", weight, weight.shape, x.dtype, x.device)
    if bias is not None:
        require_like(NAME, "bias", bias, weight.shape[:1], x.dtype, x.device)
    host.check(x.new_empty((x.shape[0], weight.shape[0]), device="meta"), target.to("meta"), options)
    require_like(NAME, "target", target, x.shape[:1], torch.int64, x.device)


# ---- The operators ---------------------------------------------------------------------------------------


def _forward(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    target: Tensor,
    ignore_index: int,
    label_smoothing: float,
    z_loss: float,
    softcap: float,
    reduction: str,
    every_lse: bool,
    wants_x: bool,
    wants_weight: bool,
    wants_bias: bool,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
    """The loss, the lse, what each loss is multiplied by, and the gradients of the sum that are wanted."""
    x, weight, bias, target = x.contiguous(), weight.contiguous(), dense(bias), target.contiguous()
    options = Options(ignore_index, label_smoothing, z_loss, softcap, every_lse)
    _check(x, weight, bias, target, options)
    host.require_classes(target, len(weight), ignore_index)
    if not x.is_cuda:
        tell_if_slow(NAME, torch.empty((len(x), len(weight)), device="meta"))
    losses, lse = (x.new_empty(len(x), dtype=torch.float32) for _ in range(2))
    one = x.new_ones((), dtype=torch.float32)
    wanted = wants_x, wants_weight, wants_bias
    sums = Sums(x, weight, wanted)
    for start, logits in Logits(x, weight, bias):
        rows = slice(start, start + len(logits))
        of_rows = {"out": losses[rows], "lse": lse[rows]}
        if any(wanted):
            rung = LADDER.best(logits, direction="both").rung
            sums.add(start, rung(logits, target[rows], options, one, gradient=logits, **of_rows)[1])
        else:
            LADDER.best(logits).rung(logits, target[rows], options, **of_rows)
    gradients = sums.of_x, sums.of_weight, sums.of_bias
    if reduction == "none":
        return losses, lse, losses.new_empty(0), *gradients
    loss, scale = host.batch_loss(losses, target, ignore_index, reduction == "mean")
    return loss, lse, scale, *gradients


def _fake(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    target: Tensor,
    ignore_index: int,
    label_smoothing: float,
    z_loss: float,
    softcap: float,
    reduction: str,
    every_lse: bool,
    wants_x: bool,
    wants_weight: bool,
    wants_bias: bool,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
    options = known_options((ignore_index, label_smoothing, z_loss, softcap))
    _check(x.contiguous(), weight.contiguous(), dense(bias), target.contiguous(), options)
    has_rows = reduction == "none"
    shapes = (x.shape[:1] if has_rows else (), x.shape[:1], (0,) if has_rows else ())
    loss, lse, scale = (x.new_empty(shape, dtype=torch.float32) for shape in shapes)
    return loss, lse, scale, *places(x, weight, (wants_x, wants_weight, wants_bias))


def _backward(
    grad: Tensor,
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    target: Tensor,
    lse: Tensor,
    ignore_index: int,
    label_smoothing: float,
    z_loss: float,
    softcap: float,
    wants_x: bool,
    wants_weight: bool,
    wants_bias: bool,
) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients from logits that are computed again; grad: one number for each row, or for all."""
    x, weight, bias, target = x.contiguous(), weight.contiguous(), dense(bias), target.contiguous()
    options, grad = Options(ignore_index, label_smoothing, z_loss, softcap), grad.contiguous()
    sums = Sums(x, weight, (wants_x, wants_weight, wants_bias))
    for start, logits in Logits(x, weight, bias):
        rows = slice(start, start + len(logits))
        rung = LADDER.best(logits, direction="backward").rung
        of_rows = grad[rows] if grad.dim() else grad
        sums.add(start, rung(of_rows, logits, target[rows], lse[rows], options, out=logits))
    return sums.of_x, sums.of_weight, sums.of_bias


def _backward_fake(
    grad: Tensor,
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    target: Tensor,
    lse: Tensor,
    ignore_index: int,
    label_smoothing: float,
    z_loss: float,
    softcap: float,
    wants_x: bool,
    wants_weight: bool,
    wants_bias: bool,
) -> tuple[Tensor, Tensor, Tensor]:
    return places(x, weight, (wants_x, wants_weight, wants_bias))


_gradients_again = define(
    "linear_cross_entropy_backward",
    f"(Tensor grad, {_TENSORS}, Tensor lse, {_OPTIONS}, {_WANTED}) -> (Tensor, Tensor, Tensor)",
    _backward,
    _backward_fake,
)


def _save(ctx: Any, inputs: Sequence[Any], output: tuple[Tensor, ...]) -> None:
    x, weight, bias, target, *ctx.options, ctx.reduction, _, wants_x, wants_weight, wants_bias = inputs
    _, lse, scale, *gradients = output
    ctx.save_for_backward(x, weight, bias, target, lse, scale)
    ctx.mark_non_differentiable(*output[1:])
    ctx.set_materialize_grads(False)
    ctx.kept = gradients if wants_x or wants_weight or wants_bias else None
    ctx.gives_away = False


def _vjp(ctx: Any, grad: Tensor | None, *_: Any) -> tuple[Any, ...]:
    nothing = (None,) * 9
    if grad is None:
        return None, None, None, None, *nothing
    x, weight, bias, target, lse, scale = ctx.saved_tensors
    of_rows = grad if ctx.reduction == "none" else grad * scale
    wants = [ctx.needs_input_grad[0], ctx.needs_input_grad[1], bias is not None and ctx.needs_input_grad[2]]
    if torch.is_grad_enabled():
        found = _differentiable(of_rows, x, weight, bias, target, Options(*ctx.options))
    else:
        found = ctx.kept
        if found is None:
            found = _gradients_again(of_rows, x, weight, bias, target, lse, *ctx.options, *wants)
        elif ctx.gives_away:
            ctx.kept = None  # a second backward pass computes them again
            found = [each.mul_(of_rows) for each in found]
        else:
            found = [each * of_rows for each in found]
    kinds = x.dtype, weight.dtype, x.dtype
    gradients = [
        each.to(kind) if want else None for each, kind, want in zip(found, kinds, wants, strict=True)
    ]
    return *gradients, None, *nothing


def _differentiable(
    of_rows: Tensor, x: Tensor, weight: Tensor, bias: Tensor | None, target: Tensor, options: Options
) -> list[Tensor]:
    """The gradients by torch's functions, in float32, which has all logits."""
    with own_precision(x):
        wide_x, wide_weight = x.float(), weight.float()
        logits = wide_x @ wide_weight.t()
        logits = logits if bias is None else logits + bias.float()
        _, d = formulas.losses_and_gradient(logits, target, options, of_rows)
        return [d @ wide_weight, d.t() @ wide_x, d.sum(0)]


_linear_cross_entropy = define(
    NAME,
    f"({_TENSORS}, {_OPTIONS}, str reduction, bool every_lse, {_WANTED})"
    " -> (Tensor, Tensor, Tensor, Tensor, Tensor, Tensor)",
    _forward,
    _fake,
    _vjp,
    _save,
)


class _Eager(torch.autograd.Function):
    """The operator in eager mode, where nobody sees the gradients that it keeps.

    They are multiplied in their own memory: there is no second gradient of the weight, which may be the
    largest tensor of a model. An operator may not do so with its outputs.
    """

    @staticmethod
    def forward(ctx: Any, *given: Any) -> tuple[Tensor, Tensor]:
        output = _forward(*given)
        _save(ctx, given, output)
        ctx.gives_away = True
        return output[0], output[1]

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return _vjp(ctx, grads[0])


_eager: Any = _Eager
_PLAIN = (Tensor, torch.nn.Parameter, type(None))


# ---- The function ----------------------------------------------------------------------------------------


@overload
def linear_cross_entropy(
    x: Tensor,
    weight: Tensor,
    target: Tensor,
    bias: Tensor | None = None,
    *,
    class_weight: Tensor | None = None,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
    z_loss: float = 0.0,
    softcap: float = 0.0,
    reduction: Reduction = "mean",
    return_lse: Literal[False] = False,
) -> Tensor: ...
@overload
def linear_cross_entropy(
    x: Tensor,
    weight: Tensor,
    target: Tensor,
    bias: Tensor | None = None,
    *,
    class_weight: Tensor | None = None,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
    z_loss: float = 0.0,
    softcap: float = 0.0,
    reduction: Reduction = "mean",
    return_lse: Literal[True],
) -> tuple[Tensor, Tensor]: ...
def linear_cross_entropy(
    x: Tensor,
    weight: Tensor,
    target: Tensor,
    bias: Tensor | None = None,
    *,
    class_weight: Tensor | None = None,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
    z_loss: float = 0.0,
    softcap: float = 0.0,
    reduction: Reduction = "mean",
    return_lse: bool = False,
) -> Tensor | tuple[Tensor, Tensor]:
    """`cross_entropy(x @ weight.T + bias, target)`, without ever having all logits in memory.

    x: (…, hidden); weight: (classes, hidden); bias: (classes), or None: all of one type, float32, float16 or
    bfloat16. target: (…), int64. Everything else is as in `cross_entropy`. Logits are of x's type, of some
    rows at a time, as many as take the memory of x. The gradient of the weight is rounded to its type once
    for each time; float16 has it in float32 meanwhile. Gradients of any order, of x, weight and bias; where
    they are differentiated again, all logits are in memory. `class_weight` is cross_entropy's weight; with it
    logits are computed a second time for the gradients.
    """
    if class_weight is not None:
        losses, lse = linear_cross_entropy(
            x,
            weight,
            target,
            bias,
            ignore_index=ignore_index,
            label_smoothing=label_smoothing,
            z_loss=z_loss,
            softcap=softcap,
            reduction="none",
            return_lse=True,
        )
        options = ignore_index, label_smoothing, reduction
        loss = weighed(NAME, losses, target, class_weight, weight.shape[0], *options)
        return (loss, lse) if return_lse else loss
    given = {} if bias is None else {"bias": bias}
    require_tensors(NAME, x=x, weight=weight, target=target, **given)
    numbers = {
        "ignore_index": ignore_index,
        "label_smoothing": label_smoothing,
        "z_loss": z_loss,
        "softcap": softcap,
    }
    options = require_options(NAME, numbers, reduction, return_lse)
    if not x.dim() or target.shape != x.shape[:-1]:
        shapes = {"shape": str(tuple(target.shape)), "shape2": str(tuple(x.shape))}
        refuse("ops.targets", name=NAME, what="x", **shapes)
    is_early = reduction != "none"  # one gradient for all losses: those of the tensors are made on the way
    wants = [is_early and wants_gradient(each) for each in (x, weight, bias)]
    tensors = as_rows(x), weight, bias, target.reshape(-1)
    is_plain = not is_followed() and not x.is_meta and all(type(each) in _PLAIN for each in tensors)
    function: Any = _eager.apply if is_plain else _linear_cross_entropy
    loss, lse = function(*tensors, *options, reduction, return_lse, *wants)[:2]
    loss = loss.reshape(target.shape) if reduction == "none" else loss
    return (loss, lse.reshape(target.shape)) if return_lse else loss
