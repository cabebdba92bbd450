"""Whether the results of two implementations agree, and how far one is from the truth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from flashpath.bench.arrays import leaves, tensors
from flashpath.bench.device import load_torch
from flashpath.kernels.tolerance import WrongResult, check_shape
from flashpath.messages import Message, told

# The largest error of one element, relative to its size plus the typical size of the tensor. Sums taken in
# another order stay far below; float32 leaves room for tf32, which matrix units use in its place. An element
# that was never written, or taken from the wrong place, is off by about 1.
TOLERANCE = {
    "torch.float64": 1e-9,
    "torch.complex128": 1e-9,
    "torch.float32": 3e-3,
    "torch.complex64": 3e-3,
    "torch.float16": 1e-2,
    "torch.bfloat16": 3e-2,
    "torch.float8_e4m3fn": 0.15,
    "torch.float8_e5m2": 0.3,
}


def assert_agreement(output: Any, expected: Any, expected_name: str | Message) -> None:
    """Raises WrongResult, saying where, unless `output` equals `expected` up to its dtype's rounding.

    Shapes and, of tensors and arrays, dtypes must be the same; plain numbers have no dtype to compare.
    """
    found, wanted = leaves(output), leaves(expected)
    if any(leaf is None for leaf in found):
        raise WrongResult("bench.none-returned")
    if len(found) != len(wanted):
        raise WrongResult("bench.results-count", count=len(found), expected=len(wanted), name=expected_name)
    for index, (one, other) in enumerate(zip(found, wanted, strict=True)):
        which = told("bench.result-number", index=index) if len(found) > 1 else told("bench.result")
        assert_tensors_agree(one, other, which, expected_name)


def assert_tensors_agree(output: Any, expected: Any, which: Message, expected_name: str | Message) -> None:
    torch = load_torch()
    have_dtypes = len(tensors((output, expected))) == 2
    output, expected = torch.as_tensor(output).detach(), torch.as_tensor(expected).detach()
    if output.shape != expected.shape:
        raise WrongResult(
            "bench.result-shape",
            which=which,
            shape=str(tuple(output.shape)),
            name=expected_name,
            expected=str(tuple(expected.shape)),
        )
    if have_dtypes and output.dtype != expected.dtype:
        raise WrongResult(
            "bench.result-dtype",
            which=which,
            dtype=dtype_name(output),
            name=expected_name,
            expected=dtype_name(expected),
        )
    output = output.to(expected.device)
    tolerance = max(TOLERANCE.get(str(tensor.dtype), 0.0) for tensor in (output, expected))
    wrong = elements_off(output, expected, tolerance)
    count = int(wrong.sum())
    if count:
        first = tuple(int(position) for position in wrong.nonzero()[0])
        raise WrongResult(
            "bench.result-differs",
            which=which,
            name=expected_name,
            count=count,
            elements=wrong.numel(),
            first=str(list(first)),
            got=output[first].item(),
            expected=expected[first].item(),
            tolerance=tolerance,
            dtype=dtype_name(output),
        )


def dtype_name(tensor: Any) -> str:
    return str(tensor.dtype).removeprefix("torch.")


def elements_off(output: Any, expected: Any, tolerance: float) -> Any:
    """A mask of the elements that are off by more than the tolerance; NaN agrees with NaN only."""
    torch = load_torch()
    if tolerance == 0.0:  # integers and booleans: exact
        return output != expected
    # float8 and the half types have no arithmetic of their own to speak of.
    wide = torch.promote_types(torch.promote_types(output.dtype, expected.dtype), torch.float32)
    output, expected = output.to(wide), expected.to(wide)
    finite = expected.isfinite()
    typical = expected[finite].abs().square().mean().sqrt() if bool(finite.any()) else 0.0
    close = (output - expected).abs() <= tolerance * (expected.abs() + typical)
    same = (output == expected) | (output.isnan() & expected.isnan())
    return ~torch.where(finite, close, same)


def distance(output: Any, exact: Any) -> float:
    """The largest distance from the truth in units of its largest element; the worst of all outputs.

    Where the truth is a number of the output's type, the output has to be one: else it is infinitely far.
    """
    torch = load_torch()
    if isinstance(output, (tuple, list)):
        outputs = cast("Sequence[Any]", output)
        return max((distance(*pair) for pair in zip(outputs, exact, strict=True)), default=0.0)
    check_shape(output, exact.shape)
    wide, right = output.double(), exact.double()
    limit = torch.finfo(output.dtype).max if output.is_floating_point() else float("inf")
    numbers = right.isfinite() & (right.abs() <= limit)
    if not bool(numbers.any()):
        return 0.0
    largest = float(right[numbers].abs().max()) or 1.0
    return (
        float((wide - right)[numbers].abs().nan_to_num(nan=float("inf"), posinf=float("inf")).max()) / largest
    )
