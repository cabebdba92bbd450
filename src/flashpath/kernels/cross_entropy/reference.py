"""Cross entropy, the reference: the formulas in float64, each result rounded once."""

from __future__ import annotations

from typing import Any

from flashpath.kernels.cross_entropy.options import DEFAULT, Options


def is_backward(inputs: tuple[Any, ...]) -> bool:
    """Whether these are arguments of a backward pass, (grad, logits, …), where grad has no classes."""
    return inputs[0].dim() < 2


def capped(logits: Any, cap: float) -> Any:
    """The logits as the loss sees them."""
    return cap * (logits / cap).tanh() if cap else logits


def _targets(target: Any, classes: int, options: Options) -> tuple[Any, Any, Any]:
    """Which rows are ignored, which have a class, and that class, or 0."""
    import torch  # here: listing the ladder shall not wait for it

    ignored = target == options.ignore_index
    counts = ~ignored & (target >= 0) & (target < classes)
    return ignored, counts, torch.where(counts, target, 0)


def losses(logits: Any, target: Any, options: Options = DEFAULT) -> tuple[Any, Any]:
    """The loss and the lse of each row, in the type of the logits."""
    import torch

    rows, classes = logits.shape
    ignored, counts, label = _targets(target, classes, options)
    if not classes:
        lse = logits.new_full((rows,), float("-inf"))
        loss = logits.new_full((rows,), float("nan"))
    else:
        z = capped(logits, options.softcap)
        log_p = torch.log_softmax(z, -1)
        largest = z.amax(-1)
        shift = torch.where(largest.isinf() & (largest < 0), 0, largest)  # of a row of -inf alone
        lse = largest + (z - shift[:, None]).exp().sum(-1).log()
        loss = -log_p.gather(1, label[:, None])[:, 0]
        if options.label_smoothing:
            others = -log_p.mean(-1)
            loss = (1 - options.label_smoothing) * loss + options.label_smoothing * others
        if options.z_loss:
            loss = loss + options.z_loss * lse.square()
    loss = torch.where(counts, loss, float("nan"))
    return torch.where(ignored, 0, loss), lse if options.every_lse else torch.where(ignored, 0, lse)


def gradient(grad: Any, logits: Any, target: Any, lse: Any, options: Options = DEFAULT) -> Any:
    """The gradient of the losses, each times grad, in the type of the logits."""
    import torch

    classes = logits.shape[1]
    ignored, counts, label = _targets(target, classes, options)
    z = capped(logits, options.softcap)
    p = (z - lse[:, None]).exp()
    if options.z_loss:
        p = p * (1 + 2 * options.z_loss * lse)[:, None]
    is_label = torch.arange(classes, device=logits.device) == label[:, None]
    expected = torch.where(is_label, 1 - options.label_smoothing, 0.0)
    if options.label_smoothing:
        expected = expected + options.label_smoothing / classes
    dx = p - expected
    if options.softcap:
        dx = dx * (1 - (z / options.softcap).square())
    dx = dx * (grad if grad.dim() == 0 else grad[:, None])
    dx = torch.where(counts[:, None], dx, float("nan"))
    return torch.where(ignored[:, None], 0, dx)


def losses_and_gradient(logits: Any, target: Any, options: Options, grad: Any) -> tuple[Any, Any]:
    """Both, of the logits' own lse."""
    loss, lse = losses(logits, target, options)
    return loss, gradient(grad, logits, target, lse, options)


def formula(*inputs: Any) -> Any:
    """(logits, target, options) → losses, lse; with a gradient after options → losses, dlogits; and
    (grad, logits, target, lse, options) → dlogits. In the type of what is given."""
    if is_backward(inputs):
        return gradient(*inputs)
    return losses_and_gradient(*inputs) if len(inputs) == 4 else losses(*inputs)


def wide(inputs: tuple[Any, ...], kind: Any) -> tuple[Any, ...]:
    """The same with tensors of floats in that type."""
    return tuple(
        each.to(kind) if hasattr(each, "is_floating_point") and each.is_floating_point() else each
        for each in inputs
    )


def _rounded(made: Any, inputs: tuple[Any, ...], kind: Any) -> Any:
    """Losses and lse are float32, gradients of the logits' type."""
    if is_backward(inputs):
        return made.to(kind)
    return made[0].float(), made[1].to(kind) if len(inputs) == 4 else made[1].float()


def in_low_precision(*inputs: Any) -> Any:
    """The formula in float32, rounded to the types that rungs write."""
    import torch

    kind = inputs[1 if is_backward(inputs) else 0].dtype
    return _rounded(formula(*wide(inputs, torch.float32)), inputs, kind)


def torchs_own(*inputs: Any) -> Any:
    """What torch's functions give, of float32, without options."""
    import torch

    functional = torch.nn.functional
    if is_backward(inputs):
        return in_low_precision(*inputs)
    logits, target = inputs[0].float(), inputs[1]
    if len(inputs) < 4:
        loss = functional.cross_entropy(logits, target, reduction="none")
        return loss, torch.logsumexp(logits, -1)
    with torch.enable_grad():
        leaf = logits.requires_grad_()
        loss = functional.cross_entropy(leaf, target, reduction="none")
        differentiate: Any = torch.autograd.grad
        (dx,) = differentiate(loss, leaf, inputs[3].expand_as(loss))
    return loss.detach(), dx.to(inputs[0].dtype)


def reference(*inputs: Any, out: Any | None = None) -> Any:
    """As formula, in float64, rounded once."""
    import torch

    kind = inputs[1 if is_backward(inputs) else 0].dtype
    result = _rounded(formula(*wide(inputs, torch.float64)), inputs, kind)
    return result if out is None else out.copy_(result)
