"""Matrix multiplication, the reference: PyTorch's own in float64, rounded once."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from flashpath.kernels.matmul.epilogue import Epilogue
from flashpath.kernels.matmul.problem import PRECISIONS, prepare, prepare_batch

_DTYPES = ("float64", "float32", "float16", "bfloat16")


def reference(
    a: Any, b: Any, precision: str = "ieee", out: Any | None = None, epilogue: Epilogue | None = None
) -> Any:
    """a b, as near to the truth as the type allows; of inputs rounded to tf32 where that is asked for.

    What follows the product happens in float64 too.
    """
    if getattr(a, "ndim", 2) == 3:
        prepare_batch(a, b, precision, out, _DTYPES)
    else:
        prepare(a, b, precision, out, dtypes=_DTYPES, precisions=PRECISIONS, takes_transposed=True)
    result = truth(*map(to_tf32, (a, b))) if precision == "tf32" else truth(a, b)
    if epilogue is not None:
        result = epilogue(result)
    result = result.to(a.dtype)
    return result if out is None else out.copy_(result)


def truth(a: Any, b: Any) -> Any:
    """The product in float64."""
    return a.double() @ b.double()


def torch_matmul(a: Any, b: Any, precision: str = "ieee") -> Any:
    """torch's own product (cuBLAS on a GPU) in the type of its inputs; on a CPU there is no tf32."""
    import torch  # here: listing the ladder shall not wait for it

    with float32_precision(precision):
        return torch.matmul(a, b)


@contextmanager
def float32_precision(precision: str) -> Generator[None]:
    """Where torch's products of float32 matrices may use tf32, or may not."""
    import torch

    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high" if precision == "tf32" else "highest")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


def to_tf32(x: Any) -> Any:
    """float32 with 10 bits of mantissa, rounded to the nearest, ties away from zero: `cvt.rna.tf32.f32`."""
    import torch

    bits = x.view(torch.int32)
    rounded = ((bits + 0x1000) & ~0x1FFF).view(
        torch.float32
    )  # a carry goes up into the exponent, as it should
    return torch.where(x.isfinite(), rounded, x)
