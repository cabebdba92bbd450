"""The problems that layer_norm and rms_norm are timed on, and when an answer to one is right."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from flashpath.kernels.common.norm.arguments import is_backward
from flashpath.kernels.declines import takes
from flashpath.kernels.peers import with_compiled
from flashpath.kernels.rung import Case
from flashpath.kernels.tolerance import WrongResult, check_against, check_shape
from flashpath.messages import told

# Rows that are checked at a time: the float64 truth of a whole large case would fill a GPU's memory.
_ELEMENTS_CHECKED_AT_ONCE = 2**26
# Per element: matrices that are read or written once, and FLOPs of layer_norm and of rms_norm.
_STREAMS = {"forward": 2, "add": 4, "backward": 3}
_FLOPS = {"forward": (8, 4), "add": (9, 5), "backward": (15, 11)}


@dataclass(frozen=True)
class Norm:
    """What a ladder needs to know of its norm: whether it subtracts the mean, eps, and its formulas."""

    centered: bool
    eps: float
    formulas: Any  # the module of its reference

    def cases(self) -> Sequence[Case]:
        few = case("forward", 256, 4096, self.centered, self.eps)  # as one step of decoding has them
        sizes = (1024, 4096, 16384)
        many = [case(each, 32768, n, self.centered, self.eps) for each in _STREAMS for n in sizes]
        return [few, *many]

    def sized(self, size: tuple[int, ...]) -> Case:
        rows, n = size
        return case("forward", rows, n, self.centered, self.eps)

    def more_samples(self) -> Sequence[Case]:
        return [case(each, 64, 1024, self.centered, self.eps) for each in ("add", "backward")]

    def truth(self, inputs: tuple[Any, ...]) -> Any:
        return self.formulas.reference(
            *(each.double() if hasattr(each, "double") else each for each in inputs)
        )

    def check(self, output: Any, inputs: tuple[Any, ...]) -> None:
        formulas = self.formulas
        if is_backward(inputs):
            check_gradients(output, inputs, formulas.gradients_in_float64, formulas.gradients)
        else:
            has_residual = len(inputs) == (5 if self.centered else 4)
            check_forward(output, inputs, has_residual, formulas.forward_in_float64, formulas.torch_forward)

    def torch_peers(self, device: str, torchs_backward: Callable[..., Any]) -> dict[str, Callable[..., Any]]:
        """torch, and where there is a GPU what torch.compile makes of the formulas."""
        forward = with_compiled(device, self.formulas.torch_forward)
        backward = with_compiled(device, self.formulas.gradients) | {"torch": torchs_backward}

        def peer(name: str, *inputs: Any) -> Any:
            return (backward if is_backward(inputs) else forward)[name](*inputs)

        return {name: functools.partial(peer, name) for name in forward}


def case(operation: str, rows: int, n: int, centered: bool, eps: float) -> Case:
    import torch

    shape, kind = (rows, n), torch.bfloat16
    vectors = 2 if centered else 1

    def inputs(device: str) -> tuple[Any, ...]:
        def drawn(*sizes: int) -> Any:
            return torch.randn(sizes, device=device, dtype=kind)

        x, weight = drawn(*shape) + 0.5, drawn(n)
        if operation == "backward":
            wide = x.float()
            mean = [wide.mean(1)] if centered else []
            spread = wide.var(1, correction=0) if centered else wide.square().mean(1)
            return drawn(*shape), x, weight, *mean, (spread + eps).rsqrt()
        bias = [drawn(n)] if centered else []
        residual = [drawn(*shape)] if operation == "add" else []
        return x, weight, *bias, eps, *residual

    small = {"forward": 2 * vectors * n, "add": 2 * vectors * n}
    small["backward"] = 2 * n + 2 * vectors * n + 4 * vectors * rows  # weight, its gradients, statistics
    return Case(
        name=f"{operation} {rows} × {n} bfloat16",
        inputs=inputs,
        bytes=_STREAMS[operation] * rows * n * kind.itemsize + small[operation],
        flops=_FLOPS[operation][0 if centered else 1] * rows * n,
        dtype="bfloat16",
        parameters={"operation": operation, "shape": list(shape), "dtype": "bfloat16"},
    )


# Which operations a rung takes, for its `declines`.
FORWARD_ONLY = takes("operation", "forward", otherwise=told("kernels.norm-forward"))
ADD_ONLY = takes("operation", "add", otherwise=told("kernels.norm-add"))
BACKWARD_ONLY = takes("operation", "backward", otherwise=told("kernels.norm-backward"))
FORWARD_OR_ADD = takes("operation", "forward", "add", otherwise=told("kernels.norm-forward-or-add"))


def check_forward(
    output: Any,
    inputs: tuple[Any, ...],
    has_residual: bool,
    exact: Callable[..., Any],
    torchs: Callable[..., Any],
) -> None:
    """At most twice torch's error in the same type, against float64; sums are bit for bit torch's."""
    import torch

    x, *rest = inputs
    if has_residual:
        *rest, residual = rest
        output, total = output
        x = x + residual
        torch.testing.assert_close(total, x, rtol=0, atol=0, equal_nan=True)
    at_once = max(1, _ELEMENTS_CHECKED_AT_ONCE // max(1, x.shape[1]))
    check_shape(output, x.shape)
    *vectors, eps = rest
    mixed = any(each is not None and each.dtype != x.dtype for each in vectors)
    alike = [
        each.float() if mixed and each is not None else each for each in vectors
    ]  # as torch's own takes it
    for part, rows in zip(output.split(at_once), x.split(at_once), strict=True):
        low = torchs(rows.float() if mixed else rows, *alike, eps).to(x.dtype)
        check_against(part, exact(rows, *vectors, eps), low)


def check_gradients(
    output: tuple[Any, ...],
    inputs: tuple[Any, ...],
    exact: Callable[..., Any],
    in_float32: Callable[..., Any],
) -> None:
    """Against the formulas in float64: at most twice the error of the same formulas in float32, once rounded.

    The sums down the columns have one more allowance: a float32 sum of that many terms, whatever its order.
    """
    truth, low = exact(*inputs), in_float32(*inputs)
    if len(output) != len(truth):
        raise WrongResult("kernels.wrong-count-of-gradients", count=len(output), expected=len(truth))
    dy, x = inputs[:2]
    rows = x.shape[0]
    terms = float(dy.abs().max() if dy.numel() else 0) * rows**0.5 * 8
    for which, (got, right, near) in enumerate(zip(output, truth, low, strict=True)):
        if right is None:
            if got is not None:
                raise WrongResult("kernels.needless-gradient")
        else:
            check_against(got, right, near, absolute=1e-6 if which == 0 else 1e-6 + 2**-24 * terms)
