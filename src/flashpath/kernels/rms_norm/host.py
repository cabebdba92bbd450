"""The host side of the rms_norm rungs.

Forward: `rung(x, weight, eps)` over the last dimension of a matrix; weight may be None, and is of x's type or
float32, or beside a float32 x of any type. `fused_residual(x, weight, eps, residual)` returns the normalised
rows and the sum x + residual, both new tensors. Backward: `rung(dy, x, weight, rstd)` returns dx and dweight;
`added`, of x's shape, is added to dx. With `weight_offset=1.0` the factor of a column is 1 + weight; without
a weight it is 1 all the same.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from flashpath.kernels.arguments import output, require_apart, require_like
from flashpath.kernels.building import cuda_kernel
from flashpath.kernels.common.norm import read_twice as twice
from flashpath.kernels.common.norm import rows as shared
from flashpath.kernels.common.norm import triton_host

FOLDER = Path(__file__).parent
TWO_PASS = FOLDER / "two_pass.cu"
VECTORIZED = FOLDER / "vectorized.cu"
READ_TWICE = FOLDER / "read_twice.cu"
FUSED_RESIDUAL = FOLDER / "fused_residual.cu"
BACKWARD = FOLDER / "backward.cu"
BACKWARD_FUSED = FOLDER / "backward_fused.cu"
TRITON = FOLDER / "triton_rms_norm.py"
EPS = 1e-6
NAME = "rms_norm"


def two_pass(
    x: Any, weight: Any = None, eps: float = EPS, *, weight_offset: float = 0.0, out: Any | None = None
) -> Any:
    shared.check_forward(NAME, x, weight, None, eps, weight_offset)
    result = shared.prepared(NAME, x, out, weight)
    rows, n = x.shape
    if rows and n:
        names = ", ".join(shared.type_names(x, weight, offset=weight_offset))
        kernel = cuda_kernel(TWO_PASS, f"rms_norm<{names}>", x)
        kernel[rows, shared.THREADS](rows, n, x, shared.as_stored(weight, weight_offset), eps, result)
    return result


def vectorized(
    x: Any,
    weight: Any = None,
    eps: float = EPS,
    *,
    weight_offset: float = 0.0,
    out: Any | None = None,
    rstd: Any | None = None,
    lanes: int | None = None,
) -> Any:
    """`rstd`, where given, is filled for the backward pass; `lanes` threads take a row."""
    shared.check_forward(NAME, x, weight, None, eps, weight_offset)
    shared.check_statistics(NAME, x, rstd=rstd)
    result = shared.prepared(NAME, x, out, weight)
    shared.forward(
        VECTORIZED,
        "rms_norm",
        "false",
        x,
        (weight,),
        eps,
        None,
        result,
        None,
        (rstd,),
        lanes,
        weight_offset,
    )
    return result


def read_twice(
    x: Any,
    weight: Any = None,
    eps: float = EPS,
    *,
    weight_offset: float = 0.0,
    out: Any | None = None,
    rstd: Any | None = None,
) -> Any:
    """Computes what `vectorized` does, without holding the row."""
    shared.check_forward(NAME, x, weight, None, eps, weight_offset)
    shared.check_statistics(NAME, x, rstd=rstd)
    result = shared.prepared(NAME, x, out, weight)
    twice.forward(READ_TWICE, False, x, weight, None, eps, result, None, rstd, weight_offset)
    return result


def fused_residual(
    x: Any,
    weight: Any,
    eps: float,
    residual: Any,
    *,
    weight_offset: float = 0.0,
    out: Any | None = None,
    total: Any | None = None,
    rstd: Any | None = None,
    lanes: int | None = None,
) -> tuple[Any, Any]:
    """The norm of x + residual, and that sum; written to `out` and `total` where given."""
    shared.check_forward(NAME, x, weight, None, eps, weight_offset)
    shared.check_statistics(NAME, x, rstd=rstd)
    require_like(NAME, "residual", residual, x.shape, x.dtype, x.device)
    result = shared.prepared(NAME, x, out, residual, weight)
    added = output(NAME, total, x.shape, x.dtype, x.device)
    require_apart(NAME, added, x, residual, result)
    shared.forward(
        FUSED_RESIDUAL,
        "add_rms_norm",
        "false",
        x,
        (weight,),
        eps,
        residual,
        result,
        added,
        (rstd,),
        lanes,
        weight_offset,
    )
    return result, added


# ---- Backward ------------------------------------------------------------------------------------------


def backward(
    dy: Any, x: Any, weight: Any, rstd: Any, added: Any = None, *, weight_offset: float = 0.0
) -> tuple[Any, Any]:
    """dx, and dweight: None for no weight."""
    shared.check_backward(NAME, dy, x, weight, rstd, added=added, offset=weight_offset)
    to = shared.gradients(x, weight, has_bias=False)
    shared.backward(BACKWARD, "false", dy, x, weight, None, rstd, to, added, weight_offset)
    return to.dx, to.dweight


def backward_fused(
    dy: Any, x: Any, weight: Any, rstd: Any, added: Any = None, *, weight_offset: float = 0.0
) -> tuple[Any, Any]:
    """Computes what `backward` does, which also takes the rows that are too long for this one."""
    shared.check_backward(NAME, dy, x, weight, rstd, added=added, offset=weight_offset)
    to = shared.gradients(x, weight, has_bias=False)
    given = dy, x, weight, None, rstd, to, added, weight_offset
    if not shared.backward_fused(BACKWARD_FUSED, "false", *given):
        shared.backward(BACKWARD, "false", *given)
    return to.dx, to.dweight


# ---- Triton --------------------------------------------------------------------------------------------


def triton_module() -> Any:
    return importlib.import_module("flashpath.kernels.rms_norm.triton_rms_norm")


def triton(
    x: Any,
    weight: Any = None,
    eps: float = EPS,
    residual: Any | None = None,
    *,
    weight_offset: float = 0.0,
    out: Any | None = None,
    total: Any | None = None,
    rstd: Any | None = None,
) -> Any:
    """The norm of x, or with a residual that of the sum, and the sum."""
    shared.check_forward(NAME, x, weight, None, eps, weight_offset)
    shared.check_statistics(NAME, x, rstd=rstd)
    result = shared.prepared(NAME, x, out, residual, weight)
    added = None
    if residual is not None:
        require_like(NAME, "residual", residual, x.shape, x.dtype, x.device)
        added = output(NAME, total, x.shape, x.dtype, x.device)
        require_apart(NAME, added, x, residual, result)
    statistics = None, rstd
    triton_host.forward(
        triton_module(), False, x, weight, None, eps, residual, result, added, *statistics, weight_offset
    )
    return result if residual is None else (result, added)


def triton_backward(
    dy: Any, x: Any, weight: Any, rstd: Any, added: Any = None, *, weight_offset: float = 0.0
) -> tuple[Any, Any]:
    shared.check_backward(NAME, dy, x, weight, rstd, added=added, offset=weight_offset)
    to = shared.gradients(x, weight, has_bias=False)
    triton_host.backward(triton_module(), False, dy, x, weight, None, rstd, to, added, weight_offset)
    return to.dx, to.dweight
