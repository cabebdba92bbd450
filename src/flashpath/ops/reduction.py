"""`reduce`: sum, max, mean and argmax of a tensor or along one of its dimensions."""

from collections.abc import Sequence
from typing import Any

import torch

from flashpath.errors import FlashpathError
from flashpath.kernels.building import sm_count
from flashpath.kernels.reduction import host
from flashpath.ops.registration import define, tell_if_slow

Tensor = torch.Tensor


def _out_dtype(x: Tensor, op: str) -> torch.dtype:
    return torch.int64 if op == "argmax" or (x.dtype == torch.int32 and op == "sum") else x.dtype


def _whole(x: Tensor, op: str) -> Tensor:
    tell_if_slow("reduce", x)
    return host.single_pass(x.contiguous(), op)


def _whole_fake(x: Tensor, op: str) -> Tensor:
    return x.new_empty((), dtype=_out_dtype(x, op))


def _rows(x: Tensor, op: str) -> Tensor:
    tell_if_slow("reduce", x)
    x = x.contiguous()
    # Few long rows need several blocks each; many rows fill the GPU with one.
    rung = host.by_row if x.shape[0] >= sm_count(x) else host.single_pass
    return rung(x, op, -1)


def _rows_fake(x: Tensor, op: str) -> Tensor:
    return x.new_empty(x.shape[:1], dtype=_out_dtype(x, op))


def _save(ctx: Any, inputs: Sequence[Any], output: Any) -> None:
    x, ctx.op = inputs
    ctx.shape = x.shape
    ctx.save_for_backward(*((x, output) if ctx.op == "max" else ()))


def _backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, None]:
    """Of a maximum, elements that share it share its gradient, as torch.amax has it."""
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
    return (spread / count).expand(ctx.shape).contiguous(), None


_reduce_all = define("reduce", "(Tensor x, str op) -> Tensor", _whole, _whole_fake, _backward, _save)
_reduce_rows = define("reduce_rows", "(Tensor x, str op) -> Tensor", _rows, _rows_fake, _backward, _save)


def reduce(x: Tensor, op: str = "sum", dim: int | None = None) -> Tensor:
    """The sum, max, mean or argmax of all elements, or of those along `dim`, as torch's functions give it."""
    if op not in host.OPERATIONS:
        raise FlashpathError(f"reduce got the operation {op!r}.", f"It knows {', '.join(host.OPERATIONS)}.")
    if dim is None:
        return _reduce_all(x, op)
    if not -x.dim() <= dim < x.dim():
        raise FlashpathError(
            f"reduce got dim={dim} for a tensor of shape {tuple(x.shape)}.",
            "Pass a dimension it has, or None.",
        )
    rows = x.movedim(dim, -1)
    return _reduce_rows(rows.reshape(-1, rows.shape[-1]), op).reshape(rows.shape[:-1])
