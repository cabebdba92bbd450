"""The host side of the layer_norm rungs.

Forward: `rung(x, weight, bias, eps)` over the last dimension of a matrix; weight and bias may be None, and
are of x's type or float32, or beside a float32 x of any type. `fused_residual(x, weight, bias, eps,
residual)` returns the normalised rows and the sum x + residual, both new. Backward: `rung(dy, x, weight,
mean, rstd)` returns dx, dweight and dbias; `added`, of x's shape, is added to dx.
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
WELFORD = FOLDER / "welford.cu"
VECTORIZED = FOLDER / "vectorized.cu"
READ_TWICE = FOLDER / "read_twice.cu"
FUSED_RESIDUAL = FOLDER / "fused_residual.cu"
BACKWARD = FOLDER / "backward.cu"
BACKWARD_FUSED = FOLDER / "backward_fused.cu"
TRITON = FOLDER / "triton_layer_norm.py"
EPS = 1e-5
NAME = "layer_norm"


def _simple(file: Path, x: Any, weight: Any, bias: Any, eps: float, out: Any | None) -> Any:
    """A block per row, whatever its length."""
    shared.check_forward(NAME, x, weight, bias, eps)
    result = shared.prepared(NAME, x, out, weight, bias)
    n_rows, n = x.shape
    if n_rows and n:
        kernel = cuda_kernel(file, f"layer_norm<{', '.join(shared.type_names(x, weight, bias))}>", x)
        kernel[n_rows, shared.THREADS](n_rows, n, x, weight, bias, eps, result)
    return result


def two_pass(
    x: Any, weight: Any = None, bias: Any = None, eps: float = EPS, *, out: Any | None = None
) -> Any:
    return _simple(TWO_PASS, x, weight, bias, eps, out)


def welford(x: Any, weight: Any = None, bias: Any = None, eps: float = EPS, *, out: Any | None = None) -> Any:
    return _simple(WELFORD, x, weight, bias, eps, out)


def vectorized(
    x: Any,
    weight: Any = None,
    bias: Any = None,
    eps: float = EPS,
    *,
    out: Any | None = None,
    mean: Any | None = None,
    rstd: Any | None = None,
    lanes: int | None = None,
) -> Any:
    """`mean` and `rstd`, where given, are filled for the backward pass; `lanes` threads take a row."""
    shared.check_forward(NAME, x, weight, bias, eps)
    shared.check_statistics(NAME, x, mean=mean, rstd=rstd)
    result = shared.prepared(NAME, x, out, weight, bias)
    shared.forward(
        VECTORIZED, "layer_norm", "true", x, (weight, bias), eps, None, result, None, (mean, rstd), lanes
    )
    return result


def read_twice(
    x: Any,
    weight: Any = None,
    bias: Any = None,
    eps: float = EPS,
    *,
    out: Any | None = None,
    mean: Any | None = None,
    rstd: Any | None = None,
) -> Any:
    """Computes what `vectorized` does, without holding the row."""
    shared.check_forward(NAME, x, weight, bias, eps)
    shared.check_statistics(NAME, x, mean=mean, rstd=rstd)
    result = shared.prepared(NAME, x, out, weight, bias)
    twice.forward(READ_TWICE, True, x, weight, bias, eps, result, mean, rstd)
    return result


def fused_residual(
    x: Any,
    weight: Any,
    bias: Any,
    eps: float,
    residual: Any,
    *,
    out: Any | None = None,
    total: Any | None = None,
    mean: Any | None = None,
    rstd: Any | None = None,
    lanes: int | None = None,
) -> tuple[Any, Any]:
    """The norm of x + residual, and that sum; written to `out` and `total` where given."""
    shared.check_forward(NAME, x, weight, bias, eps)
    shared.check_statistics(NAME, x, mean=mean, rstd=rstd)
    require_like(NAME, "residual", residual, x.shape, x.dtype, x.device)
    result = shared.prepared(NAME, x, out, residual, weight, bias)
    added = output(NAME, total, x.shape, x.dtype, x.device)
    require_apart(NAME, added, x, residual, result)
    shared.forward(
        FUSED_RESIDUAL,
        "add_layer_norm",
        "true",
        x,
        (weight, bias),
        eps,
        residual,
        result,
        added,
        (mean, rstd),
        lanes,
    )
    return result, added


# ---- Backward ------------------------------------------------------------------------------------------


def backward(
    dy: Any, x: Any, weight: Any, mean: Any, rstd: Any, has_bias: bool = True, added: Any = None
) -> shared.Gradients:
    """dx, dweight (None for no weight) and dbias (None unless there is a bias)."""
    shared.check_backward(NAME, dy, x, weight, rstd, mean, added=added)
    to = shared.gradients(x, weight, has_bias)
    shared.backward(BACKWARD, "true", dy, x, weight, mean, rstd, to, added)
    return to


def backward_fused(
    dy: Any, x: Any, weight: Any, mean: Any, rstd: Any, has_bias: bool = True, added: Any = None
) -> shared.Gradients:
    """Computes what `backward` does, which also takes the rows that are too long for this one."""
    shared.check_backward(NAME, dy, x, weight, rstd, mean, added=added)
    to = shared.gradients(x, weight, has_bias)
    if not shared.backward_fused(BACKWARD_FUSED, "true", dy, x, weight, mean, rstd, to, added):
        shared.backward(BACKWARD, "true", dy, x, weight, mean, rstd, to, added)
    return to


# ---- Triton --------------------------------------------------------------------------------------------


def triton_module() -> Any:
    return importlib.import_module("flashpath.kernels.layer_norm.triton_layer_norm")


def triton(
    x: Any,
    weight: Any = None,
    bias: Any = None,
    eps: float = EPS,
    residual: Any | None = None,
    *,
    out: Any | None = None,
    total: Any | None = None,
    mean: Any | None = None,
    rstd: Any | None = None,
) -> Any:
    """The norm of x, or with a residual that of the sum, and the sum."""
    shared.check_forward(NAME, x, weight, bias, eps)
    shared.check_statistics(NAME, x, mean=mean, rstd=rstd)
    result = shared.prepared(NAME, x, out, residual, weight, bias)
    added = None
    if residual is not None:
        require_like(NAME, "residual", residual, x.shape, x.dtype, x.device)
        added = output(NAME, total, x.shape, x.dtype, x.device)
        require_apart(NAME, added, x, residual, result)
    triton_host.forward(triton_module(), True, x, weight, bias, eps, residual, result, added, mean, rstd)
    return result if residual is None else (result, added)


def triton_backward(
    dy: Any, x: Any, weight: Any, mean: Any, rstd: Any, has_bias: bool = True, added: Any = None
) -> shared.Gradients:
    shared.check_backward(NAME, dy, x, weight, rstd, mean, added=added)
    to = shared.gradients(x, weight, has_bias)
    triton_host.backward(triton_module(), True, dy, x, weight, mean, rstd, to, added)
    return to
