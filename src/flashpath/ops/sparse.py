"""`spmv`: a sparse matrix, by rows (CSR), times a vector."""

from collections.abc import Sequence
from typing import Any

import torch

from flashpath.kernels.spmv import host
from flashpath.ops.registration import define, tell_if_slow

Tensor = torch.Tensor


def _forward(row_ptr: Tensor, col: Tensor, val: Tensor, x: Tensor) -> Tensor:
    tell_if_slow("spmv", val)
    # Merge-based: near the best for even rows, and the only one that a few long rows do not slow down, which
    # nothing but the data could tell.
    return host.merge_based(*(each.contiguous() for each in (row_ptr, col, val, x)))


def _fake(row_ptr: Tensor, _col: Tensor, val: Tensor, _x: Tensor) -> Tensor:
    return val.new_empty(row_ptr.shape[0] - 1)


def _save(ctx: Any, inputs: Sequence[Any], _output: Any) -> None:
    ctx.save_for_backward(*inputs)


def _backward(ctx: Any, grad: Tensor) -> tuple[None, None, Tensor | None, Tensor | None]:
    """dval = dy[row] x[col]; dx = Aᵀ dy, summed by column."""
    row_ptr, col, val, x = ctx.saved_tensors
    _, _, wants_val, wants_x = ctx.needs_input_grad
    lengths = row_ptr.diff()
    of_row = torch.repeat_interleave(grad, lengths, output_size=val.shape[0])
    dval = of_row * x[col] if wants_val else None
    dx = torch.zeros_like(x).index_add_(0, col, of_row * val) if wants_x else None
    return None, None, dval, dx


_spmv = define(
    "spmv", "(Tensor row_ptr, Tensor col, Tensor val, Tensor x) -> Tensor", _forward, _fake, _backward, _save
)


def spmv(row_ptr: Tensor, col: Tensor, val: Tensor, x: Tensor) -> Tensor:
    """y[r] = sum of val[i] * x[col[i]] for i from row_ptr[r] to row_ptr[r + 1]; indices int32 or int64."""
    return _spmv(row_ptr, col, val, x)
