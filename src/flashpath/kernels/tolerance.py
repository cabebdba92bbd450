"""What a result has to be: its shape, its type, and how close it has to come to the truth."""

from __future__ import annotations

from typing import Any

from flashpath.errors import FlashpathError


class WrongResult(FlashpathError, AssertionError):
    """A rung's result is not what it has to be."""


def check_shape(output: Any, expected: Any) -> None:
    """Raises WrongResult unless the output has that shape."""
    if tuple(output.shape) != tuple(expected):
        raise WrongResult(
            "kernels.wrong-shape", shape=str(tuple(output.shape)), expected=str(tuple(expected))
        )


def check_type(output: Any, expected: Any) -> None:
    """Raises WrongResult unless the output has that dtype."""
    if output.dtype != expected:
        raise WrongResult("kernels.wrong-type", type=str(output.dtype), expected=str(expected))


def check_finite(output: Any) -> None:
    """Raises WrongResult where the output has an infinity or a NaN."""
    if not bool(output.isfinite().all()):
        raise WrongResult("kernels.not-finite")


def check_against(output: Any, exact: Any, in_low_precision: Any, *, absolute: float = 1e-6) -> None:
    """Raises WrongResult unless the error is at most twice torch's, plus a small absolute term.

    `exact` is the truth in float64, `in_low_precision` what torch makes of the same inputs in their own type.
    What overflows the output's type, is infinite or is NaN has no error: it has to be the same.
    """
    import torch

    check_shape(output, exact.shape)
    check_type(output, in_low_precision.dtype)
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
    if not worst <= allowed:
        raise WrongResult("kernels.error-too-large", error=worst, allowed=allowed)
