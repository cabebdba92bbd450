"""`reduce`: sum, max, mean and argmax of a tensor or along one of its dimensions."""

from collections.abc import Sequence
from typing import Any

import torch

from flashpath.kernels.arguments import require_tensor
from flashpath.kernels.reduction import host
from flashpath.kernels.reduction.ladder import LADDER
from flashpath.ops.checking import as_rows, require_choice, require_dim, require_tensors
from flashpath.ops.plans import planned
from flashpath.ops.registration import define, tell_if_slow

Tensor = torch.Tensor


def _ready(x: Tensor) -> Tensor:
    x = x.contiguous()
    require_tensor("reduce", "x", x, host.DTYPES)
    return x


def _whole(x: Tensor, op: str) -> Tensor:
    tell_if_slow("reduce", x)
    x = _ready(x)
    return LADDER.best(x, op).rung(x, op)


def _whole_fake(x: Tensor, op: str) -> Tensor:
    return host.prepare(_ready(x), op, None, None).out


def _rows(x: Tensor, op: str) -> Tensor:
    tell_if_slow("reduce", x)
    x = _ready(x)
    return LADDER.best(x, op, -1).rung(x, op, -1)


def _rows_fake(x: Tensor, op: str) -> Tensor:
    return host.prepare(_ready(x), op, -1, None).out


def _save(ctx: Any, inputs: Sequence[Any], output: Any) -> None:
    x, ctx.op = inputs
    ctx.shape = x.shape
    ctx.save_for_backward(*((x, output) if ctx.op == "max" else ()))


def _backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, None]:
    """Returns the gradient; elements that share a maximum share its gradient, as in torch.amax."""
    if ctx.op == "argmax":
        return None, None
    spread = grad if grad.dim() == 0 else grad.unsqueeze(-1)
    if ctx.op == "max":
        x, largest = ctx.saved_tensors
        is_largest = x == (largest if grad.dim() == 0 else largest.unsqueeze(-1))
        ties = is_largest.sum() if grad.dim() == 0 else is_largest.sum(-1, keepdim=True)
        return (is_largest * (spread / ties)).to(grad.dtype), None
    count = 1
    if ctx.op == "mean":
        count = ctx.shape.numel() if grad.dim() == 0 else ctx.shape[-1]
    return (spread if count == 1 else spread / count).expand(ctx.shape), None


_reduce_all = define("reduce", "(Tensor x, str op) -> Tensor", _whole, _whole_fake, _backward, _save)
_reduce_rows = define("reduce_rows", "(Tensor x, str op) -> Tensor", _rows, _rows_fake, _backward, _save)


@planned
def reduce(x: Tensor, op: str = "sum", dim: int | None = None) -> Tensor:
    """The sum, max, mean or argmax of all elements, or of those along `dim`, as torch's functions give it.

    x: float32, float16, bfloat16 or int32, whose sum is int64 and whose mean is refused; sums are in float32
    and rounded once. Of a max, NaN is the largest; the first of equal elements is argmax. Gradients: of sum,
    mean and max; elements that share a maximum share its gradient, as of torch.amax.
    """
    require_tensors("reduce", x=x)
    require_choice("reduce", "operation", op, tuple(host.OPERATIONS))
    if dim is None:
        return _reduce_all(x, op)
    require_dim("reduce", x, dim)
    if x.dim() == 0:
        return _reduce_rows(x.reshape(1, 1), op).reshape(())
    rows = x.movedim(dim, -1)
    return _reduce_rows(as_rows(rows), op).reshape(rows.shape[:-1])
