"""`cross_entropy`: how far logits are from their targets, with the gradient computed again from the lse.

The forward direction keeps the logits, which are the caller's, and one number for each row; nothing else of
their size lives until the backward direction, whose result is the only tensor that it makes.
"""

from collections.abc import Sequence
from typing import Any, Literal, overload

import torch

from flashpath.kernels.cross_entropy import host
from flashpath.kernels.cross_entropy import reference as formulas
from flashpath.kernels.cross_entropy.ladder import LADDER
from flashpath.kernels.cross_entropy.options import Options
from flashpath.ops.checking import (
    SYMBOLS,
    as_rows,
    number,
    refuse,
    require_choice,
    require_flag,
    require_tensors,
)
from flashpath.ops.plans import planned
from flashpath.ops.registration import define, tell_if_slow

Tensor = torch.Tensor
Reduction = Literal["mean", "sum", "none"]
REDUCTIONS = ("mean", "sum", "none")
_OPTIONS = "int ignore_index, float label_smoothing, float z_loss, float softcap"


def require_options(name: str, numbers: dict[str, Any], reduction: Any, return_lse: Any) -> tuple[Any, ...]:
    """Returns ignore_index and the numbers, which a rung refuses where there is no loss for them."""
    require_choice(name, "reduction", reduction, REDUCTIONS)
    require_flag(name, "return_lse", return_lse)
    index, *others = (number(name, key, value) for key, value in numbers.items())
    if not isinstance(index, (int, torch.SymInt)) or isinstance(index, bool):
        refuse("ops.not-whole", name=name, key="ignore_index", value=f"{index!r:.80}")
    return index, *others


def known_options(options: tuple[Any, ...]) -> Options:
    """Returns the options for a fake: where a number is not known yet, the one that always fits."""
    index, smoothing, z_loss, softcap = (0 if isinstance(each, SYMBOLS) else each for each in options)
    return Options(index, smoothing, z_loss, softcap)


# ---- The operators ---------------------------------------------------------------------------------------


def _forward(
    logits: Tensor,
    target: Tensor,
    ignore_index: int,
    label_smoothing: float,
    z_loss: float,
    softcap: float,
    reduction: str,
    every_lse: bool,
) -> tuple[Tensor, Tensor, Tensor]:
    tell_if_slow("cross_entropy", logits)
    logits, target = logits.contiguous(), target.contiguous()
    options = Options(ignore_index, label_smoothing, z_loss, softcap, every_lse)
    losses, lse = LADDER.best(logits, target).rung(logits, target, options)
    if reduction == "none":
        return losses, lse, losses.new_empty(0)
    loss, scale = host.batch_loss(losses, target, ignore_index, reduction == "mean")
    return loss, lse, scale


def _fake(
    logits: Tensor,
    target: Tensor,
    ignore_index: int,
    label_smoothing: float,
    z_loss: float,
    softcap: float,
    reduction: str,
    every_lse: bool,
) -> tuple[Tensor, Tensor, Tensor]:
    options = known_options((ignore_index, label_smoothing, z_loss, softcap))
    host.check(logits.contiguous(), target.contiguous(), options)
    rows = logits.shape[:1]
    has_rows = reduction == "none"
    shapes = (rows if has_rows else (), rows, (0,) if has_rows else ())
    loss, lse, scale = (logits.new_empty(shape, dtype=torch.float32) for shape in shapes)
    return loss, lse, scale


def _backward(
    grad: Tensor,
    logits: Tensor,
    target: Tensor,
    lse: Tensor,
    ignore_index: int,
    label_smoothing: float,
    z_loss: float,
    softcap: float,
) -> Tensor:
    logits, target = logits.contiguous(), target.contiguous()
    options = Options(ignore_index, label_smoothing, z_loss, softcap)
    rung = LADDER.best(logits, target, direction="backward").rung
    return rung(grad.contiguous(), logits, target, lse, options)


def _backward_fake(
    grad: Tensor,
    logits: Tensor,
    target: Tensor,
    lse: Tensor,
    ignore_index: int,
    label_smoothing: float,
    z_loss: float,
    softcap: float,
) -> Tensor:
    options = known_options((ignore_index, label_smoothing, z_loss, softcap))
    given = grad.contiguous(), logits.contiguous(), target.contiguous(), lse, options
    host.check_backward(*given)
    return torch.empty_like(logits, memory_format=torch.contiguous_format)


_gradient = define(
    "cross_entropy_backward",
    f"(Tensor grad, Tensor logits, Tensor target, Tensor lse, {_OPTIONS}) -> Tensor",
    _backward,
    _backward_fake,
)


def _save(ctx: Any, inputs: Sequence[Any], output: tuple[Tensor, Tensor, Tensor]) -> None:
    logits, target, *options, ctx.reduction, _ = inputs
    ctx.options = tuple(options)
    _, lse, scale = output
    ctx.save_for_backward(logits, target, lse, scale)
    ctx.mark_non_differentiable(lse, scale)


def _vjp(ctx: Any, grad: Tensor, *_: Any) -> tuple[Any, ...]:
    logits, target, lse, scale = ctx.saved_tensors
    of_rows = grad if ctx.reduction == "none" else grad * scale
    nothing = (None,) * 7
    if torch.is_grad_enabled():  # the gradient is to be differentiated: the lse has a gradient too
        options = Options(*ctx.options)
        wide = logits.float()
        _, dx = formulas.losses_and_gradient(wide, target, options, of_rows)
        return dx.to(logits.dtype), *nothing
    return _gradient(of_rows, logits, target, lse, *ctx.options), *nothing


_cross_entropy = define(
    "cross_entropy",
    f"(Tensor logits, Tensor target, {_OPTIONS}, str reduction, bool every_lse) -> (Tensor, Tensor, Tensor)",
    _forward,
    _fake,
    _vjp,
    _save,
)


def weighed(
    name: str,
    losses: Tensor,
    target: Tensor,
    weight: Tensor,
    classes: int,
    ignore_index: Any,
    label_smoothing: Any,
    reduction: Any,
) -> Tensor:
    """The losses of rows by the weights of their targets, or their sum, or their mean over the weights.

    A target that is no class has a loss of NaN on a GPU, and any weight.
    """
    require_choice(name, "reduction", reduction, REDUCTIONS)
    require_tensors(name, weight=weight)
    if tuple(weight.shape) != (classes,) or not weight.is_floating_point() or weight.device != losses.device:
        given = {"shape": str(tuple(weight.shape)), "dtype": str(weight.dtype), "device": str(weight.device)}
        refuse("ops.class-weights", name=name, **given, classes=classes)
    if weight.requires_grad and torch.is_grad_enabled():
        refuse("ops.number-gradient", name=name, key="weight")
    if label_smoothing:
        refuse("ops.weights-smoothing", name=name)
    factor = weight.float()[target.clamp(0, classes - 1)].masked_fill(target == ignore_index, 0)
    if reduction == "none":
        return losses * factor
    total = (losses * factor).sum()
    return total if reduction == "sum" else total / factor.sum()


# ---- The function ----------------------------------------------------------------------------------------


@overload
def cross_entropy(
    logits: Tensor,
    target: Tensor,
    *,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
    z_loss: float = 0.0,
    softcap: float = 0.0,
    reduction: Reduction = "mean",
    return_lse: Literal[False] = False,
) -> Tensor: ...
@overload
def cross_entropy(
    logits: Tensor,
    target: Tensor,
    *,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
    z_loss: float = 0.0,
    softcap: float = 0.0,
    reduction: Reduction = "mean",
    return_lse: Literal[True],
) -> tuple[Tensor, Tensor]: ...
@planned
def cross_entropy(
    logits: Tensor,
    target: Tensor,
    *,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
    z_loss: float = 0.0,
    softcap: float = 0.0,
    reduction: Reduction = "mean",
    return_lse: bool = False,
) -> Tensor | tuple[Tensor, Tensor]:
    """`logsumexp(logits) - logits[target]` of each row, float32; their mean, their sum, or all of them.

    logits: (…, classes), float32, float16 or bfloat16; target: (…), int64, a class or `ignore_index`, whose
    rows count for nothing. The classes are the last dimension, also of more than two. `label_smoothing` gives
    all classes together that share of the target. `z_loss` · logsumexp² is added to each loss. `softcap`, if
    not 0, makes softcap · tanh(logits / softcap) of the logits first. The mean is over the rows that are not
    ignored: NaN where there is none, as torch has it.

    A row of -inf alone, or with NaN or +inf, is NaN. A target that is no class is refused on the CPU; on a
    GPU the loss and the gradient of its row are NaN. With `return_lse` the logsumexp of every row is returned
    too, (…), float32, without a gradient. Gradients of any order, of logits, which stay as they are.

    `weight`, (classes), float32 or the logits' type, multiplies the loss of a row by its target's weight, and
    the mean is then over weights; it has no gradient, and there is no label_smoothing beside it.
    """
    require_tensors("cross_entropy", logits=logits, target=target)
    if weight is not None:
        losses, lse = cross_entropy(
            logits,
            target,
            ignore_index=ignore_index,
            label_smoothing=label_smoothing,
            z_loss=z_loss,
            softcap=softcap,
            reduction="none",
            return_lse=True,
        )
        classes = logits.shape[-1]
        loss = weighed(
            "cross_entropy", losses, target, weight, classes, ignore_index, label_smoothing, reduction
        )
        return (loss, lse) if return_lse else loss
    numbers = {
        "ignore_index": ignore_index,
        "label_smoothing": label_smoothing,
        "z_loss": z_loss,
        "softcap": softcap,
    }
    options = require_options("cross_entropy", numbers, reduction, return_lse)
    if not logits.dim() or target.shape != logits.shape[:-1]:
        shapes = {"shape": str(tuple(target.shape)), "shape2": str(tuple(logits.shape))}
        refuse("ops.targets", name="cross_entropy", what="logits", **shapes)
    given = as_rows(logits), target.reshape(-1), *options, reduction, return_lse
    loss, lse, _ = _cross_entropy(*given)
    loss = loss.reshape(target.shape) if reduction == "none" else loss
    return (loss, lse.reshape(target.shape)) if return_lse else loss
