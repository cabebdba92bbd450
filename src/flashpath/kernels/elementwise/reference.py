"""Elementwise operations, the reference: PyTorch in float64, rounded once; integers as they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flashpath.kernels.elementwise.operations import checked


def reference(x: Any, operation: str, *operands: Any, out: Any | None = None) -> Any:
    """`reference(x, "gelu")`, `reference(x, "add", y)`, `reference(x, "clamp", -1.0, 1.0)`"""
    call = checked(x, operation, operands, out)
    call.out.copy_(truth(x, operation, *operands))
    return call.out


def truth(x: Any, operation: str, *operands: Any) -> Any:
    """The same in float64, not rounded to the type of x."""
    import torch

    if not x.is_floating_point():
        return TORCH[operation](x, *operands)
    wide = [each.double() if isinstance(each, torch.Tensor) else each for each in operands]
    return TORCH[operation](x.double(), *wide)


# ---- Each operation as a user of PyTorch writes it ---------------------------------------------------------
# A function of its own for each: torch.compile keeps a few versions of one function only.


def _scale(x: Any, factor: float) -> Any:
    return x * factor


def _add(x: Any, y: Any) -> Any:
    return x + y


def _relu(x: Any) -> Any:
    import torch

    return torch.relu(x)


def _gelu(x: Any) -> Any:
    import torch

    return torch.nn.functional.gelu(x)


def _gelu_tanh(x: Any) -> Any:
    import torch

    return torch.nn.functional.gelu(x, approximate="tanh")


def _silu(x: Any) -> Any:
    import torch

    return torch.nn.functional.silu(x)


def _clamp(x: Any, low: float, high: float) -> Any:
    return x.clamp(low, high)


def _silu_and_mul(x: Any) -> Any:
    gate, up = x.chunk(2, dim=-1)
    return _silu(gate) * up


def _gelu_and_mul(x: Any) -> Any:
    gate, up = x.chunk(2, dim=-1)
    return _gelu(gate) * up


def _gelu_tanh_and_mul(x: Any) -> Any:
    gate, up = x.chunk(2, dim=-1)
    return _gelu_tanh(gate) * up


def _scale_add_relu(x: Any, factor: float, y: Any) -> Any:
    return _relu(x * factor + y)


def _scale_add_gelu(x: Any, factor: float, y: Any) -> Any:
    return _gelu(x * factor + y)


def _scale_add_gelu_tanh(x: Any, factor: float, y: Any) -> Any:
    return _gelu_tanh(x * factor + y)


def _scale_add_silu(x: Any, factor: float, y: Any) -> Any:
    return _silu(x * factor + y)


TORCH: dict[str, Callable[..., Any]] = {
    "scale": _scale,
    "add": _add,
    "relu": _relu,
    "gelu": _gelu,
    "gelu_tanh": _gelu_tanh,
    "silu": _silu,
    "clamp": _clamp,
    "silu_and_mul": _silu_and_mul,
    "gelu_and_mul": _gelu_and_mul,
    "gelu_tanh_and_mul": _gelu_tanh_and_mul,
    "scale_add_relu": _scale_add_relu,
    "scale_add_gelu": _scale_add_gelu,
    "scale_add_gelu_tanh": _scale_add_gelu_tanh,
    "scale_add_silu": _scale_add_silu,
}
