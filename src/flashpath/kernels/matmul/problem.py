"""What every matmul rung asks of its arguments, and which problems it takes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from flashpath.errors import FlashpathError
from flashpath.kernels.arguments import FLOATS, output, require_apart, require_tensor
from flashpath.kernels.building import dtype_name
from flashpath.kernels.rung import Case, Declines
from flashpath.messages import Message, told

FOLDER = Path(__file__).parent

# How float32 inputs are multiplied: as they are, or rounded to tf32 (10 bits of mantissa, to the nearest,
# ties away from zero) for the tensor cores. Products of half types are exact in float32: they have "ieee".
PRECISIONS = ("ieee", "tf32")


class Problem(NamedTuple):
    """A checked product: out (m, n) = a (m, k) b (k, n), all of them row-major."""

    m: int
    n: int
    k: int
    out: Any


def prepare(
    a: Any,
    b: Any,
    precision: str = "ieee",
    out: Any | None = None,
    *,
    dtypes: Sequence[str] = FLOATS,
    precisions: Sequence[str] = ("ieee",),
    takes_transposed: bool = False,
) -> Problem:
    """Check the arguments against what a rung takes; makes the output where there is none."""
    for name, x in (("a", a), ("b", b)):
        may_be_strided = takes_transposed and is_transposed(x)
        require_tensor("matmul", name, x, dtypes, dims=2, may_be_strided=may_be_strided)
    _check_pair(a, b, precision, precisions)
    m, k = a.shape
    n = b.shape[1]
    result = output("matmul", out, (m, n), a.dtype, a.device)
    if out is not None:
        require_apart("matmul", result, a, b)
    return Problem(m, n, k, result)


def is_transposed(x: Any) -> bool:
    """Whether a matrix lies column after column, as a weight does that is given transposed."""
    is_matrix = hasattr(x, "is_contiguous") and x.dim() == 2
    return is_matrix and not x.is_contiguous() and x.t().is_contiguous()


class Batch(NamedTuple):
    """Checked products: out (batch, m, n) = a (batch, m, k) b (batch, k, n); a and b with any strides."""

    batch: int
    m: int
    n: int
    k: int
    out: Any


def prepare_batch(a: Any, b: Any, precision: str, out: Any | None, dtypes: Sequence[str]) -> Batch:
    """Check the arguments of many products at once; makes the output where there is none."""
    for name, x in (("a", a), ("b", b)):
        require_tensor("matmul", name, x, dtypes, dims=3, may_be_strided=True)
    if a.shape[0] != b.shape[0]:
        raise FlashpathError("kernels.matmul-shapes", shape=str(tuple(a.shape)), shape2=str(tuple(b.shape)))
    _check_pair(a, b, precision, PRECISIONS)
    batch, m, k = a.shape
    n = b.shape[2]
    result = output("matmul", out, (batch, m, n), a.dtype, a.device)
    if out is not None:
        require_apart("matmul", result, a, b)
    return Batch(batch, m, n, k, result)


def _check_pair(a: Any, b: Any, precision: str, precisions: Sequence[str]) -> None:
    if a.dtype != b.dtype or a.device != b.device:
        raise FlashpathError(
            "kernels.matmul-unlike",
            dtype=dtype_name(a),
            device=str(a.device),
            dtype2=dtype_name(b),
            device2=str(b.device),
        )
    if a.shape[-1] != b.shape[-2]:
        raise FlashpathError("kernels.matmul-shapes", shape=str(tuple(a.shape)), shape2=str(tuple(b.shape)))
    if precision not in PRECISIONS:
        raise FlashpathError(
            "kernels.matmul-precision", precision=f"{precision!r}", precisions=list(PRECISIONS)
        )
    if precision == "tf32" and dtype_name(a) != "float32":
        raise FlashpathError("kernels.matmul-tf32", dtype=dtype_name(a))
    # What a rung takes only one precision of, it takes of float32: half types do not ask.
    if dtype_name(a) == "float32" and precision not in precisions:
        raise FlashpathError(
            "kernels.matmul-rung-precision", precision=f"{precision!r}", precisions=list(precisions)
        )


def takes_only(dtypes: Sequence[str], precisions: Sequence[str] = ("ieee",)) -> Declines:
    """For a rung's `declines`: why it does not take many products, another type or precision."""

    def declines(case: Case) -> Message | None:
        dtype, precision = case.parameters["dtype"], case.parameters["precision"]
        if case.parameters.get("batch"):
            return told("kernels.matmul.one-product")
        if dtype not in dtypes:
            return told("kernels.matmul.dtypes", dtypes=dtypes, dtype=dtype)
        if dtype == "float32" and precision not in precisions:
            return told("kernels.matmul.precisions", precisions=precisions, precision=precision)
        return None

    return declines
