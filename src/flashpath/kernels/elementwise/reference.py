"""Elementwise operations, the reference: PyTorch in float64, rounded once; integers as they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flashpath.kernels.elementwise.operations import GRADIENTS, checked, checked_gradient


def reference(x: Any, operation: str, *operands: Any, out: Any | None = None) -> Any:
    """`reference(x, "gelu")`, `reference(x, "add", y)`, `reference(x, "clamp", -1.0, 1.0)`"""
    if operation in GRADIENTS:
        asked = checked_gradient(x, operation, operands, out)
        for result, exact in zip(asked.results, results(truth(x, operation, *operands)), strict=True):
            result.copy_(exact)
        return asked.returned
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


def results(output: Any) -> tuple[Any, ...]:
    """Returns one result, or both, as a tuple."""
    return output if isinstance(output, tuple) else (output,)  # pyright: ignore[reportUnknownVariableType]


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


def _swiglu(x: Any, y: Any) -> Any:
    return _silu(x) * y


def _geglu(x: Any, y: Any) -> Any:
    return _gelu(x) * y


def _geglu_tanh(x: Any, y: Any) -> Any:
    return _gelu_tanh(x) * y


def _scale_add_relu(x: Any, factor: float, y: Any) -> Any:
    return _relu(x * factor + y)


def _scale_add_gelu(x: Any, factor: float, y: Any) -> Any:
    return _gelu(x * factor + y)


def _scale_add_gelu_tanh(x: Any, factor: float, y: Any) -> Any:
    return _gelu_tanh(x * factor + y)


def _scale_add_silu(x: Any, factor: float, y: Any) -> Any:
    return _silu(x * factor + y)


# ---- Gradients: the functions that autograd calls ----------------------------------------------------------


def _relu_backward(dout: Any, x: Any) -> Any:
    import torch

    return torch.ops.aten.threshold_backward(dout, x, 0)


def _gelu_backward(dout: Any, x: Any) -> Any:
    import torch

    return torch.ops.aten.gelu_backward(dout, x)


def _gelu_tanh_backward(dout: Any, x: Any) -> Any:
    import torch

    return torch.ops.aten.gelu_backward(dout, x, approximate="tanh")


def _silu_backward(dout: Any, x: Any) -> Any:
    import torch

    return torch.ops.aten.silu_backward(dout, x)


def _clamp_backward(dout: Any, low: float, high: float, x: Any) -> Any:
    import torch

    return torch.where((x >= low) & (x <= high), dout, 0)


def _gate_backward(activation: Callable[[Any], Any], gradient: Callable[[Any, Any], Any]) -> Any:
    def backward(dout: Any, x: Any) -> Any:
        import torch

        gate, up = x.chunk(2, dim=-1)
        return torch.cat((gradient(dout * up, gate), dout * activation(gate)), dim=-1)

    return backward


def _gate_of_two_backward(activation: Callable[[Any], Any], gradient: Callable[[Any, Any], Any]) -> Any:
    def backward(dout: Any, x: Any, y: Any) -> Any:
        return gradient(dout * y, x), dout * activation(x)

    return backward


def _chain_backward(gradient: Callable[[Any, Any], Any]) -> Any:
    def backward(dout: Any, factor: float, x: Any, y: Any) -> Any:
        dy = gradient(dout, x * factor + y)
        return dy * factor, dy

    return backward


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
    "swiglu": _swiglu,
    "geglu": _geglu,
    "geglu_tanh": _geglu_tanh,
    "scale_add_relu": _scale_add_relu,
    "scale_add_gelu": _scale_add_gelu,
    "scale_add_gelu_tanh": _scale_add_gelu_tanh,
    "scale_add_silu": _scale_add_silu,
    "relu_backward": _relu_backward,
    "gelu_backward": _gelu_backward,
    "gelu_tanh_backward": _gelu_tanh_backward,
    "silu_backward": _silu_backward,
    "clamp_backward": _clamp_backward,
    "silu_and_mul_backward": _gate_backward(_silu, _silu_backward),
    "gelu_and_mul_backward": _gate_backward(_gelu, _gelu_backward),
    "gelu_tanh_and_mul_backward": _gate_backward(_gelu_tanh, _gelu_tanh_backward),
    "swiglu_backward": _gate_of_two_backward(_silu, _silu_backward),
    "geglu_backward": _gate_of_two_backward(_gelu, _gelu_backward),
    "geglu_tanh_backward": _gate_of_two_backward(_gelu_tanh, _gelu_tanh_backward),
    "scale_add_relu_backward": _chain_backward(_relu_backward),
    "scale_add_gelu_backward": _chain_backward(_gelu_backward),
    "scale_add_gelu_tanh_backward": _chain_backward(_gelu_tanh_backward),
    "scale_add_silu_backward": _chain_backward(_silu_backward),
}
