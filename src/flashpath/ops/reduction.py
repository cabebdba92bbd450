"""`reduce`: sum, max, min, mean and argmax of a tensor or along some of its dimensions."""

import math
from collections.abc import Sequence
from typing import Any, Literal

import torch

from flashpath.kernels.arguments import require_tensor
from flashpath.kernels.reduction import host
from flashpath.kernels.reduction.ladder import LADDER
from flashpath.ops.checking import refuse, require_choice, require_dim, require_flag, require_tensors
from flashpath.ops.plans import planned
from flashpath.ops.registration import define, tell_if_slow

Tensor = torch.Tensor
Operation = Literal["sum", "max", "min", "mean", "argmax"]
_EXTREMA = ("max", "min")


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
    ctx.save_for_backward(*((x, output) if ctx.op in _EXTREMA else ()))


def _backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, None]:
    """Returns the gradient; elements that share an extremum share its gradient, as in torch.amax."""
    if ctx.op == "argmax":
        return None, None
    spread = grad if grad.dim() == 0 else grad.unsqueeze(-1)
    if ctx.op in _EXTREMA:
        x, found = ctx.saved_tensors
        is_found = x == (found if grad.dim() == 0 else found.unsqueeze(-1))
        ties = is_found.sum() if grad.dim() == 0 else is_found.sum(-1, keepdim=True)
        return (is_found * (spread / ties)).to(grad.dtype), None
    count = 1
    if ctx.op == "mean":
        count = ctx.shape.numel() if grad.dim() == 0 else ctx.shape[-1]
    return (spread if count == 1 else spread / count).expand(ctx.shape), None


_reduce_all = define("reduce", "(Tensor x, str op) -> Tensor", _whole, _whole_fake, _backward, _save)
_reduce_rows = define("reduce_rows", "(Tensor x, str op) -> Tensor", _rows, _rows_fake, _backward, _save)


@planned
def reduce(
    x: Tensor, op: Operation = "sum", dim: int | Sequence[int] | None = None, keepdim: bool = False
) -> Tensor:
    """The sum, max, min, mean or argmax of all elements, or of those along `dim`, as torch gives it.

    `dim` is one dimension or several, but one of argmax; with `keepdim` they stay, with one element. x:
    float32, float16, bfloat16 or int32, whose sum is int64 and whose mean is refused; sums are in float32 and
    rounded once. Of a max, NaN is the largest, of a min the smallest; the first of equal elements is argmax.
    Gradients: of all but argmax; elements that share an extremum share its gradient, as of torch.amax.
    """
    require_tensors("reduce", x=x)
    require_choice("reduce", "operation", op, tuple(host.OPERATIONS))
    require_flag("reduce", "keepdim", keepdim)
    dims = _dims(x, op, dim)
    kept = tuple(1 if i in dims else size for i, size in enumerate(x.shape))
    if len(dims) == x.dim() and (dim is None or x.dim() > 1 or not x.dim()):
        whole = _reduce_all(x, op)
        return whole.reshape(kept) if keepdim else whole
    ends = range(-len(dims), 0)
    moved = x.movedim(dims, tuple(ends))
    rows = moved.reshape(math.prod(moved.shape[: -len(dims)]), math.prod(moved.shape[-len(dims) :]))
    reduced = _reduce_rows(rows, op)
    return reduced.reshape(kept if keepdim else moved.shape[: -len(dims)])


def _dims(x: Tensor, op: str, dim: Any) -> tuple[int, ...]:
    """Returns the dimensions that go, in rising order; none of them twice."""
    rank = max(x.dim(), 1)
    given: list[Any] = [*dim] if isinstance(dim, (tuple, list)) else [dim]
    if dim is None or not given:
        return tuple(range(x.dim()))
    for each in given:
        require_dim("reduce", x, each)
    dims = sorted(each % rank for each in given)
    if len(set(dims)) < len(dims) or (op == "argmax" and len(dims) > 1):
        refuse("ops.reduce-dims", op=op, dims=str(tuple(given)))
    return tuple(dims) if x.dim() else ()
