"""Operators that go along a dimension in order: scan and sort."""

import math
from collections.abc import Sequence
from typing import Any, Literal, overload

import torch

from flashpath.kernels.arguments import require_tensor
from flashpath.kernels.scan.ladder import LADDER as SCAN
from flashpath.kernels.scan.problem import OPERATIONS as SCANS
from flashpath.kernels.scan.problem import prepare as prepare_scan
from flashpath.kernels.sort import host as sort_rungs
from flashpath.kernels.sort.ladder import LADDER as SORT
from flashpath.ops.checking import (
    as_rows,
    refuse,
    require_choice,
    require_dim,
    require_flag,
    require_tensors,
)
from flashpath.ops.plans import planned
from flashpath.ops.plans.recording import wants_gradient
from flashpath.ops.registration import define, tell_if_slow

Tensor = torch.Tensor


# ---- Scan ------------------------------------------------------------------------------------------------


def _scan_forward(x: Tensor, op: str, exclusive: bool, flags: Tensor | None = None) -> Tensor:
    tell_if_slow("scan", x)
    inputs = x.contiguous(), op, exclusive, None if flags is None else flags.contiguous()
    return SCAN.best(*inputs).rung(*inputs)


def _scan_fake(x: Tensor, op: str, _exclusive: bool, flags: Tensor | None = None) -> Tensor:
    return prepare_scan(x.contiguous(), op, None if flags is None else flags.contiguous(), None).out


def _save_scan(ctx: Any, inputs: Sequence[Any], output: Tensor) -> None:
    x, ctx.op, ctx.exclusive, flags = inputs
    ctx.save_for_backward(flags, *((x, output) if ctx.op == "max" else ()))


def _scan_backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None, None]:
    """Returns the gradient of a sum: every element is in all sums after it, so it is a scan from the end."""
    flags, *rest = ctx.saved_tensors
    if ctx.op == "sum":
        ends = None if flags is None else flags.bool().roll(-1, -1).flip(-1)
        return _scan(grad.flip(-1), "sum", ctx.exclusive, ends).flip(-1), None, None, None
    x, largest = rest
    n = x.shape[-1]
    if ctx.exclusive:  # output i + 1 is the maximum of the first i + 1 elements; that of none has no gradient
        if flags is not None:
            grad = grad.masked_fill(flags.bool(), 0)
        largest, grad = largest[..., 1:], grad[..., 1:]
        x = x[..., :-1]
    # The gradient of each maximum goes to the last element that was one when it was reached. NaN is.
    places = torch.arange(x.shape[-1], device=x.device).expand(x.shape)
    where = torch.where((x == largest) | x.isnan(), places, -1).cummax(-1).values
    dx = torch.zeros_like(x).scatter_add(-1, where.clamp(min=0), grad)
    return torch.nn.functional.pad(dx, (0, n - x.shape[-1])), None, None, None


_scan = define(
    "scan",
    "(Tensor x, str op, bool exclusive, Tensor? flags=None) -> Tensor",
    _scan_forward,
    _scan_fake,
    _scan_backward,
    _save_scan,
)


@planned
def scan(
    x: Tensor,
    op: Literal["sum", "max"] = "sum",
    exclusive: bool = False,
    dim: int = -1,
    flags: Tensor | None = None,
) -> Tensor:
    """The sums, or maxima, of all elements up to each one along `dim`; `exclusive` leaves that one out.

    With `flags`, of x's shape in bool or uint8, a new segment starts where one is set. x: float32, float16,
    bfloat16 or int32, whose sum is int64; sums are in float32 and rounded once. An exclusive maximum starts
    with -inf, or the least int32. NaN is the largest, as for torch.cummax. Gradients: of both; that of a
    maximum goes to the last element that was one.
    """
    require_tensors("scan", x=x, **({} if flags is None else {"flags": flags}))
    require_choice("scan", "operation", op, tuple(SCANS))
    require_dim("scan", x, dim)
    if flags is not None and flags.shape != x.shape:
        refuse("ops.scan-flags", shape=str(tuple(flags.shape)), shape2=str(tuple(x.shape)))
    if not x.dim():
        scanned = _scan(x.reshape(1), op, bool(exclusive), None if flags is None else flags.reshape(1))
        return scanned.reshape(())
    if x.dim() == 1:
        return _scan(x, op, bool(exclusive), flags)
    rows = x.movedim(dim, -1)
    heads = None if flags is None else as_rows(flags.movedim(dim, -1))
    return _scan(as_rows(rows), op, bool(exclusive), heads).reshape(rows.shape).movedim(-1, dim)


# ---- Sort ------------------------------------------------------------------------------------------------


def _sort_forward(x: Tensor) -> Tensor:
    tell_if_slow("sort", x)
    return SORT.best(x).rung(x.contiguous())


def _sort_fake(x: Tensor) -> Tensor:
    return sort_rungs.prepare(x.contiguous(), False, None, sort_rungs.MOST_ONESWEEP).result


def _sort_pairs_forward(x: Tensor) -> tuple[Tensor, Tensor]:
    tell_if_slow("sort", x)
    values, indices = SORT.best(x).rung(x.contiguous(), return_indices=True)
    return values, indices


def _sort_pairs_fake(x: Tensor) -> tuple[Tensor, Tensor]:
    return sort_rungs.prepare(x.contiguous(), True, None, sort_rungs.MOST_ONESWEEP).result


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


def _sort_rows_forward(x: Tensor) -> tuple[Tensor, Tensor]:
    """All elements are sorted, then stably by the row that each is of."""
    require_tensor("sort", "x", x, sort_rungs.DTYPES, dims=2, may_be_strided=True)
    tell_if_slow("sort", x)
    count, n = x.shape
    values, places = SORT.best(flat := x.reshape(-1).contiguous()).rung(flat, return_indices=True)
    row = (places // max(n, 1)).to(torch.int32)
    _, order = SORT.best(row).rung(row, return_indices=True)
    return values[order].view(count, n), (places[order] % max(n, 1)).view(count, n)


def _sort_rows_fake(x: Tensor) -> tuple[Tensor, Tensor]:
    require_tensor("sort", "x", x, sort_rungs.DTYPES, dims=2, may_be_strided=True)
    values, indices = _sort_pairs_fake(x.reshape(-1))
    return values.view(x.shape), indices.view(x.shape)


def _sort_rows_backward(ctx: Any, grad: Tensor, _: Any) -> Tensor:
    (indices,) = ctx.saved_tensors
    return torch.empty_like(grad).scatter_(1, indices, grad)


_sort_rows = define(
    "sort_rows",
    "(Tensor x) -> (Tensor, Tensor)",
    _sort_rows_forward,
    _sort_rows_fake,
    _sort_rows_backward,
    _save_indices,
)


@overload
def sort(
    x: Tensor, return_indices: Literal[False] = False, dim: int = ..., descending: bool = ...
) -> Tensor: ...
@overload
def sort(
    x: Tensor, return_indices: Literal[True], dim: int = ..., descending: bool = ...
) -> tuple[Tensor, Tensor]: ...
@overload
def sort(
    x: Tensor, return_indices: bool, dim: int = ..., descending: bool = ...
) -> Tensor | tuple[Tensor, Tensor]: ...
@planned
def sort(x: Tensor, return_indices: bool = False, dim: int = -1, descending: bool = False) -> Any:
    """The elements along `dim` in ascending order, NaN last; with `return_indices` also where each stood.

    `descending` turns the order round, NaN first. x: float32, float16, bfloat16 or int32, fewer than 2^30
    elements. Stable either way: equal elements, -0 and 0 among them, keep their order. The gradient needs the
    indices, so they are computed for it too.
    """
    require_tensors("sort", x=x)
    require_flag("sort", "return_indices", return_indices)
    require_flag("sort", "descending", descending)
    require_dim("sort", x, dim)
    rows = x.movedim(dim, -1) if x.dim() else x.reshape(1)
    given = rows.flip(-1) if descending else rows  # equal elements keep their order when it is turned back
    one = math.prod(rows.shape[:-1]) == 1
    if one and not return_indices and not wants_gradient(x):
        values, indices = _sort_keys(given.reshape(-1)), None
    else:
        values, indices = _sort_pairs(given.reshape(-1)) if one else _sort_rows(as_rows(given))
    if descending:
        values = values.flip(-1)
        indices = None if indices is None else rows.shape[-1] - 1 - indices.flip(-1)
    values = _as_given(values, rows, x, dim)
    return (values, _as_given(indices, rows, x, dim)) if return_indices else values


def _as_given(result: Any, rows: Tensor, x: Tensor, dim: int) -> Any:
    """A result of rows in the shape and the order of dimensions of x."""
    return result.reshape(rows.shape).movedim(-1, dim) if x.dim() else result.reshape(())
