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
) -> Problem:
    """Check the arguments against what a rung takes; makes the output where there is none."""
    require_tensor("matmul", "a", a, dtypes, dims=2)
    require_tensor("matmul", "b", b, dtypes, dims=2)
    if a.dtype != b.dtype or a.device != b.device:
        raise FlashpathError(
            "kernels.matmul-unlike",
            dtype=dtype_name(a),
            device=str(a.device),
            dtype2=dtype_name(b),
            device2=str(b.device),
        )
    if a.shape[1] != b.shape[0]:
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
    m, k = a.shape
    n = b.shape[1]
    result = output("matmul", out, (m, n), a.dtype, a.device)
    if out is not None:
        require_apart("matmul", result, a, b)
    return Problem(m, n, k, result)


def takes_only(dtypes: Sequence[str], precisions: Sequence[str] = ("ieee",)) -> Declines:
    """For a rung's `declines`: why it does not take a case of another type or precision."""

    def declines(case: Case) -> Message | None:
        dtype, precision = case.parameters["dtype"], case.parameters["precision"]
        if dtype not in dtypes:
            return told("kernels.matmul.dtypes", dtypes=dtypes, dtype=dtype)
        if dtype == "float32" and precision not in precisions:
            return told("kernels.matmul.precisions", precisions=precisions, precision=precision)
        return None

    return declines
