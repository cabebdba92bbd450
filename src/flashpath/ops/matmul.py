"""`matmul`: the product of two matrices, by the rung that is fastest for their type on their GPU."""

from collections.abc import Sequence
from typing import Any

import torch

from flashpath.errors import FlashpathError
from flashpath.kernels.arguments import FLOATS
from flashpath.kernels.building import dtype_name
from flashpath.kernels.matmul.ladder import LADDER
from flashpath.ops.checking import require_tensors
from flashpath.ops.plans import planned
from flashpath.ops.registration import define, tell_if_slow

Tensor = torch.Tensor
DTYPES = (*FLOATS, "float64")


def _check(a: Tensor, b: Tensor) -> None:
    """Refuses what no rung takes; a rung alone may take less."""
    if a.dim() != 2 or b.dim() != 2 or a.shape[1] != b.shape[0]:
        raise FlashpathError("ops.matmul-shapes", shape=str(tuple(a.shape)), shape2=str(tuple(b.shape)))
    if a.dtype != b.dtype or a.device != b.device:
        raise FlashpathError(
            "ops.matmul-unlike",
            dtype=dtype_name(a),
            device=str(a.device),
            dtype2=dtype_name(b),
            device2=str(b.device),
        )
    if dtype_name(a) not in DTYPES:
        raise FlashpathError("ops.matmul-dtype", dtype=dtype_name(a), dtypes=list(DTYPES))


def _forward(a: Tensor, b: Tensor) -> Tensor:
    _check(a, b)
    tell_if_slow("matmul", a, products=a.numel() * b.shape[1])
    a, b = a.contiguous(), b.contiguous()
    return LADDER.best(a, b).rung(a, b)


def _fake(a: Tensor, b: Tensor) -> Tensor:
    _check(a, b)
    return a.new_empty((a.shape[0], b.shape[1]))


def _save(ctx: Any, inputs: Sequence[Any], _output: Any) -> None:
    ctx.save_for_backward(*inputs)


def _backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, Tensor | None]:
    """da = dc bᵀ, db = aᵀ dc: two products by the same operator."""
    a, b = ctx.saved_tensors
    wants_a, wants_b = ctx.needs_input_grad[:2]
    return _matmul(grad, b.t()) if wants_a else None, _matmul(a.t(), grad) if wants_b else None


_matmul = define("matmul", "(Tensor a, Tensor b) -> Tensor", _forward, _fake, _backward, _save)


@planned
def matmul(a: Tensor, b: Tensor) -> Tensor:
    """The product of (m, k) and (k, n), both of one type: float32, float16, bfloat16 or float64.

    Sums are in float32, or in float64 of float64, and rounded once. float32 is not rounded to tf32. Autocast
    changes nothing. Gradients: of both, by the same operator.
    """
    require_tensors("matmul", a=a, b=b)
    return _matmul(a, b)
