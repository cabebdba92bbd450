"""Operators that go along a dimension in order: scan and sort."""

from collections.abc import Sequence
from typing import Any

import torch

from flashpath.errors import FlashpathError
from flashpath.kernels.scan import host as scan_rungs
from flashpath.kernels.scan.problem import OPERATIONS as SCANS
from flashpath.kernels.sort import host as sort_rungs
from flashpath.ops.registration import define, tell_if_slow

Tensor = torch.Tensor


# ---- Scan ------------------------------------------------------------------------------------------------


def _scan_forward(x: Tensor, op: str, exclusive: bool) -> Tensor:
    tell_if_slow("scan", x)
    x = x.contiguous()
    return scan_rungs.fastest(x, op, exclusive)


def _scan_fake(x: Tensor, op: str, _exclusive: bool) -> Tensor:
    dtype = torch.int64 if x.dtype == torch.int32 and op == "sum" else x.dtype
    return x.new_empty(x.shape, dtype=dtype)


def _save_scan(ctx: Any, inputs: Sequence[Any], output: Tensor) -> None:
    x, ctx.op, ctx.exclusive = inputs
    ctx.save_for_backward(*((x, output) if ctx.op == "max" else ()))


def _scan_backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
    """Of a sum: every element is in all sums after it, so the gradient is a scan from the other end."""
    if ctx.op == "sum":
        return _scan(grad.flip(-1), "sum", ctx.exclusive).flip(-1), None, None
    x, largest = ctx.saved_tensors
    if ctx.exclusive:  # output i + 1 is the maximum of the first i + 1 elements
        largest, grad = largest[..., 1:], grad[..., 1:]
        x = x[..., :-1]
    # The gradient of each maximum goes to the last element that was one when it was reached.
    places = torch.arange(x.shape[-1], device=x.device).expand(x.shape)
    where = torch.where(x == largest, places, -1).cummax(-1).values
    dx = torch.zeros_like(x).scatter_add(-1, where.clamp(min=0), grad)
    return torch.nn.functional.pad(dx, (0, int(ctx.exclusive))), None, None


_scan = define(
    "scan",
    "(Tensor x, str op, bool exclusive) -> Tensor",
    _scan_forward,
    _scan_fake,
    _scan_backward,
    _save_scan,
)


def scan(x: Tensor, op: str = "sum", exclusive: bool = False, dim: int = -1) -> Tensor:
    """The sums, or maxima, of all elements up to each one along `dim`; `exclusive` leaves that one out."""
    if op not in SCANS:
        raise FlashpathError(f"scan got the operation {op!r}.", f"It knows {', '.join(SCANS)}.")
    if not x.dim() or not -x.dim() <= dim < x.dim():
        raise FlashpathError(
            f"scan got dim={dim} for a tensor of shape {tuple(x.shape)}.", "Pass one it has."
        )
    if x.dim() == 1:
        return _scan(x, op, exclusive)
    rows = x.movedim(dim, -1)
    scanned = _scan(rows.reshape(-1, rows.shape[-1]), op, exclusive)
    return scanned.reshape(rows.shape).movedim(-1, dim)


# ---- Sort ------------------------------------------------------------------------------------------------


def _sort_forward(x: Tensor) -> Tensor:
    tell_if_slow("sort", x)
    return sort_rungs.onesweep(x.contiguous())


def _sort_fake(x: Tensor) -> Tensor:
    return x.new_empty(x.shape)


def _sort_pairs_forward(x: Tensor) -> tuple[Tensor, Tensor]:
    tell_if_slow("sort", x)
    values, indices = sort_rungs.onesweep(x.contiguous(), return_indices=True)
    return values, indices


def _sort_pairs_fake(x: Tensor) -> tuple[Tensor, Tensor]:
    return x.new_empty(x.shape), x.new_empty(x.shape, dtype=torch.int64)


def _save_indices(ctx: Any, _inputs: Sequence[Any], output: tuple[Tensor, Tensor]) -> None:
    ctx.save_for_backward(output[1])
    ctx.mark_non_differentiable(output[1])


def _sort_pairs_backward(ctx: Any, grad: Tensor, _: Any) -> Tensor:
    (indices,) = ctx.saved_tensors
    return torch.empty_like(grad).scatter_(0, indices, grad)


_sort_keys = define("sort_keys", "(Tensor x) -> Tensor", _sort_forward, _sort_fake)
_sort_pairs = define(
    "sort",
    "(Tensor x) -> (Tensor, Tensor)",
    _sort_pairs_forward,
    _sort_pairs_fake,
    _sort_pairs_backward,
    _save_indices,
)


def sort(x: Tensor, return_indices: bool = False) -> Any:
    """The elements of a vector in ascending order, NaN last; with `return_indices` also where each stood.

    Stable: equal elements keep their order. The gradient needs the indices, so they are computed for it too.
    """
    if x.dim() != 1:
        raise FlashpathError(
            f"sort got a tensor of shape {tuple(x.shape)}.", "It takes a vector: x.flatten()."
        )
    if not return_indices and not x.requires_grad:
        return _sort_keys(x)
    values, indices = _sort_pairs(x)
    return (values, indices) if return_indices else values
