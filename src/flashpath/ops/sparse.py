"""`spmv`: a sparse matrix, by rows (CSR), times a vector."""

from collections.abc import Sequence
from typing import Any

import torch

from flashpath.errors import FlashpathError
from flashpath.kernels.spmv import host
from flashpath.kernels.spmv.ladder import LADDER
from flashpath.ops.checking import require_tensors
from flashpath.ops.plans import planned
from flashpath.ops.registration import define, tell_if_slow

Tensor = torch.Tensor


def _check_indices(row_ptr: Tensor, col: Tensor, val: Tensor, x: Tensor) -> None:
    """Checks what is in the index tensors; on a GPU each question waits for it."""
    if not row_ptr.numel():
        return  # the host refuses it
    first, last = int(row_ptr[0]), int(row_ptr[-1])
    if first != 0 or last != val.numel():
        raise FlashpathError("ops.spmv-ends", first=first, last=last, count=val.numel())
    falls = (row_ptr.diff() < 0).nonzero()
    if falls.numel():
        at = int(falls[0])
        raise FlashpathError(
            "ops.spmv-falls", at=at, row_ptr=int(row_ptr[at]), at2=at + 1, row_ptr2=int(row_ptr[at + 1])
        )
    outside = ((col < 0) | (col >= x.numel())).nonzero()
    if outside.numel():
        at = int(outside[0])
        raise FlashpathError(
            "ops.spmv-column", at=at, col=int(col[at]), count=x.numel(), count2=x.numel() - 1
        )


def _forward(row_ptr: Tensor, col: Tensor, val: Tensor, x: Tensor, check: bool = False) -> Tensor:
    tell_if_slow("spmv", val)
    ready = [each.contiguous() for each in (row_ptr, col, val, x)]
    if check or not val.is_cuda:
        host.prepare(*ready, out=None)  # types and shapes come first
        _check_indices(*ready)
    return LADDER.best(*ready).rung(*ready)


def _fake(row_ptr: Tensor, col: Tensor, val: Tensor, x: Tensor, _check: bool = False) -> Tensor:
    return host.prepare(*(each.contiguous() for each in (row_ptr, col, val, x)), out=None).y


def _save(ctx: Any, inputs: Sequence[Any], _output: Any) -> None:
    ctx.save_for_backward(*inputs[:4])


def _backward(ctx: Any, grad: Tensor) -> tuple[None, None, Tensor | None, Tensor | None, None]:
    """dval = dy[row] x[col]; dx = Aᵀ dy, summed by column."""
    row_ptr, col, val, x = ctx.saved_tensors
    wants_val, wants_x = ctx.needs_input_grad[2:4]
    lengths = row_ptr.diff()
    of_row = torch.repeat_interleave(grad, lengths, output_size=val.shape[0])
    dval = of_row * x[col] if wants_val else None
    if not wants_x:
        return None, None, dval, None, None
    # A column's sum is rounded once: in bfloat16 it would stop growing at 256 times what is added.
    wide = torch.float32 if x.dtype in (torch.float16, torch.bfloat16) else x.dtype
    products = of_row.to(wide) * val.to(wide)
    dx = torch.zeros_like(x, dtype=wide).index_add_(0, col, products)
    return None, None, dval, dx.to(x.dtype), None


_spmv = define(
    "spmv",
    "(Tensor row_ptr, Tensor col, Tensor val, Tensor x, bool check=False) -> Tensor",
    _forward,
    _fake,
    _backward,
    _save,
)


@planned
def spmv(row_ptr: Tensor, col: Tensor, val: Tensor, x: Tensor, check: bool = False) -> Tensor:
    """y[r] = sum of val[i] * x[col[i]] for i from row_ptr[r] to row_ptr[r + 1].

    row_ptr and col: int32 or int64, both alike; val and x: float32, float16, bfloat16 or float64.
    Gradients: of val and x.

    row_ptr must rise from 0 to len(val), and every col must be an index of x. On the CPU that is checked. On
    a GPU a check would wait for it, so there it is the caller's promise, and where that is broken the result
    is undefined; `check=True` checks there too.
    """
    require_tensors("spmv", row_ptr=row_ptr, col=col, val=val, x=x)
    return _spmv(row_ptr, col, val, x, bool(check))
