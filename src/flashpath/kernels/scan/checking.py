"""Whether a scan's result is right: how far each running sum of floats may be from the truth."""

from __future__ import annotations

import math
from typing import Any

from flashpath.kernels.scan.reference import reference, torch_scan
from flashpath.kernels.tolerance import WrongResult, check_shape, check_type


def exact_scan(x: Any, op: str, exclusive: bool, flags: Any | None) -> Any:
    """The truth: in float64, or in whole numbers."""
    return torch_scan(x.double() if x.dtype.is_floating_point else x, op, exclusive, flags)


def allowed_error(x: Any, exclusive: bool, flags: Any | None) -> Any:
    """How far each running sum of floats may be from the truth.

    Twice torch's own error in the same type, one rounding to the output's type, and four times what the
    roundings of float32 come to if their signs are random: those of the log2(n) levels of a tree over the
    elements, together of the size of √Σx², and those along a chain of carries, one for 2^20 elements, each of
    the size of the largest running sum so far.
    """
    import torch

    exact = exact_scan(x, "sum", exclusive, flags)
    n = max(1, x.shape[-1])
    of_torch = (reference(x, "sum", exclusive, flags).double() - exact).abs()
    norm = torch_scan(x.double().square(), "sum", exclusive, flags).sqrt()
    largest = torch_scan(exact.abs(), "max", False, flags) if x.numel() else exact
    of_tree = math.sqrt(math.log2(n) + 1) * norm
    of_chain = math.sqrt(n / 2**20 + 1) * largest
    return 2 * of_torch + torch.finfo(x.dtype).eps * exact.abs() + 4 * 2**-24 * (of_tree + of_chain)


def check(output: Any, inputs: tuple[Any, ...]) -> None:
    import torch

    x, op, exclusive, flags = inputs
    expected = reference(x, op, exclusive, flags)
    if op == "max" or not x.dtype.is_floating_point:
        torch.testing.assert_close(output, expected, rtol=0, atol=0, equal_nan=True)
        return
    check_type(output, expected.dtype)
    check_shape(output, expected.shape)
    if not output.numel():
        return
    exact, allowed = exact_scan(x, op, exclusive, flags), allowed_error(x, exclusive, flags)
    # What is infinite or NaN has no error: it has to be the same.
    exact = torch.where(allowed.isfinite(), exact, expected.double())
    allowed = torch.where(allowed.isfinite(), allowed, 0.0)
    error = torch.where(output == exact, 0.0, (output.double() - exact).abs())
    is_wrong = ~((error <= allowed) | (output.isnan() & exact.isnan()))
    if bool(is_wrong.any()):
        at = tuple(int(i) for i in is_wrong.nonzero()[0])
        raise WrongResult(
            "kernels.wrong-elements",
            count=int(is_wrong.sum()),
            elements=output.numel(),
            at=str(list(at)),
            got=output[at].item(),
            expected=exact[at].item(),
            allowed=allowed[at].item(),
        )
