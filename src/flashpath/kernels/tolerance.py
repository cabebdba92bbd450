"""How close a result has to be to the truth: the rule for ladders of floating-point numbers."""

from __future__ import annotations

from typing import Any


def check_against(output: Any, exact: Any, in_low_precision: Any, *, absolute: float = 1e-6) -> None:
    """Raise AssertionError unless the error is at most twice torch's, plus a small absolute term.

    `exact` is the truth in float64, `in_low_precision` what torch makes of the same inputs in their own type.
    What overflows the output's type, is infinite or is NaN has no error: it has to be the same.
    """
    import torch

    assert output.shape == exact.shape, f"the shape is {tuple(output.shape)}, not {tuple(exact.shape)}"
    assert output.dtype == in_low_precision.dtype, f"the type is {output.dtype}, not {in_low_precision.dtype}"
    largest = torch.finfo(output.dtype).max
    exact = torch.where(exact.abs() > largest, exact.to(output.dtype).double(), exact)
    finite = exact.isfinite()
    torch.testing.assert_close(output[~finite].double(), exact[~finite], rtol=0, atol=0, equal_nan=True)
    if not bool(finite.any()):
        return
    error = (output.double() - exact).abs()[finite]
    of_torch = (in_low_precision.double() - exact).abs()[finite & in_low_precision.isfinite()]
    allowed = 2 * float(of_torch.max() if of_torch.numel() else 0.0) + absolute
    worst = float(error.max())
    assert worst <= allowed, f"the error is {worst:.3g}, and {allowed:.3g} are allowed"
