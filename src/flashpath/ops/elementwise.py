"""Elementwise operators: one kernel each, and the chain scale, add, activation in one pass."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch

from flashpath.errors import FlashpathError
from flashpath.kernels.elementwise import host
from flashpath.kernels.elementwise.operations import OPERATIONS
from flashpath.ops.registration import define, tell_if_slow

Tensor = torch.Tensor


def _relu_slope(x: Tensor) -> Tensor:
    return (x > 0).to(x.dtype)


def _gelu_slope(x: Tensor) -> Tensor:
    """Φ(x) + x φ(x)."""
    probability = 0.5 * (1 + torch.erf(x / math.sqrt(2)))
    return probability + x * torch.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)


def _gelu_tanh_slope(x: Tensor) -> Tensor:
    c, cubic = math.sqrt(2 / math.pi), 0.044715
    t = torch.tanh(c * (x + cubic * x**3))
    return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * c * (1 + 3 * cubic * x * x)


def _silu_slope(x: Tensor) -> Tensor:
    s = torch.sigmoid(x)
    return s * (1 + x * (1 - s))


SLOPES: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": _relu_slope,
    "gelu": _gelu_slope,
    "gelu_tanh": _gelu_tanh_slope,
    "silu": _silu_slope,
}


def _wide(x: Tensor) -> Tensor:
    """Slopes of half types are computed in float32, and rounded once."""
    return x.float() if x.dtype in (torch.float16, torch.bfloat16) else x


def _run(name: str) -> Callable[..., Tensor]:
    rung = host.fused_chain if len(OPERATIONS[name].functors) > 1 else host.vectorized

    def forward(x: Tensor, *operands: Any) -> Tensor:
        tell_if_slow(name, x)
        ready = [each.contiguous() if isinstance(each, Tensor) else each for each in operands]
        return rung(x.contiguous(), name, *ready)

    return forward


def _fake(name: str) -> Callable[..., Tensor]:
    is_gated = OPERATIONS[name].gated

    def fake(x: Tensor, *_: Any) -> Tensor:
        return x.new_empty((*x.shape[:-1], x.shape[-1] // 2) if is_gated else x.shape)

    return fake


# ---- Activations ---------------------------------------------------------------------------------------


def _save_input(ctx: Any, inputs: Sequence[Any], _output: Any) -> None:
    ctx.save_for_backward(inputs[0])


def _activation(name: str) -> Callable[[Tensor], Tensor]:
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        return (_wide(grad) * SLOPES[name](_wide(x))).to(grad.dtype)

    return define(name, "(Tensor x) -> Tensor", _run(name), _fake(name), backward, _save_input)


def _gated(activation: str) -> Callable[[Tensor], Tensor]:
    name = f"{activation}_and_mul"

    def backward(ctx: Any, grad: Tensor) -> Tensor:
        gate, up = (_wide(half) for half in ctx.saved_tensors[0].chunk(2, dim=-1))
        value = host_value(activation, gate)
        wide = _wide(grad)
        return torch.cat((wide * up * SLOPES[activation](gate), wide * value), dim=-1).to(grad.dtype)

    return define(name, "(Tensor x) -> Tensor", _run(name), _fake(name), backward, _save_input)


def host_value(activation: str, x: Tensor) -> Tensor:
    """The activation itself, in torch: the other factor of a gate's gradient."""
    if activation == "silu":
        return torch.nn.functional.silu(x)
    return torch.nn.functional.gelu(x, approximate="tanh" if activation == "gelu_tanh" else "none")


relu, gelu, gelu_tanh, silu = (_activation(name) for name in SLOPES)
silu_and_mul, gelu_and_mul, gelu_tanh_and_mul = (_gated(name) for name in ("silu", "gelu", "gelu_tanh"))


# ---- Operators with operands ---------------------------------------------------------------------------


def _save_factor(ctx: Any, inputs: Sequence[Any], _output: Any) -> None:
    ctx.factor = inputs[1]


def _scale_backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
    return grad * ctx.factor, None


_scale = define(
    "scale",
    "(Tensor x, Scalar factor) -> Tensor",
    _run("scale"),
    _fake("scale"),
    _scale_backward,
    _save_factor,
)


def _add_backward(_ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor]:
    return grad, grad.clone()


_add = define("add", "(Tensor x, Tensor y) -> Tensor", _run("add"), _fake("add"), _add_backward)


def _save_clamp(ctx: Any, inputs: Sequence[Any], _output: Any) -> None:
    x, ctx.low, ctx.high = inputs
    ctx.save_for_backward(x)


def _clamp_backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
    (x,) = ctx.saved_tensors
    return torch.where((x >= ctx.low) & (x <= ctx.high), grad, 0), None, None


_clamp = define(
    "clamp",
    "(Tensor x, Scalar low, Scalar high) -> Tensor",
    _run("clamp"),
    _fake("clamp"),
    _clamp_backward,
    _save_clamp,
)


def scale(x: Tensor, factor: float) -> Tensor:
    """`factor * x`."""
    return _scale(x, factor)


def add(x: Tensor, y: Tensor) -> Tensor:
    """`x + y`, of one shape and type."""
    return _add(x, y)


def clamp(x: Tensor, low: float, high: float) -> Tensor:
    """Every element brought between `low` and `high`; NaN stays."""
    return _clamp(x, low, high)


# ---- The chain -----------------------------------------------------------------------------------------


def _chain(activation: str) -> Callable[..., Tensor]:
    name = f"scale_add_{activation}"

    def save(ctx: Any, inputs: Sequence[Any], _output: Any) -> None:
        x, ctx.factor, y = inputs
        ctx.save_for_backward(x, y)

    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, Tensor]:
        x, y = (_wide(each) for each in ctx.saved_tensors)
        inner = _wide(grad) * SLOPES[activation](x * ctx.factor + y)
        return (inner * ctx.factor).to(grad.dtype), None, inner.to(grad.dtype)

    return define(
        name, "(Tensor x, float factor, Tensor y) -> Tensor", _run(name), _fake(name), backward, save
    )


_chains = {name: _chain(name) for name in SLOPES}


def scale_add_activation(x: Tensor, factor: float, y: Tensor, activation: str) -> Tensor:
    """`activation(factor * x + y)` in one pass, rounded once: relu, gelu, gelu_tanh or silu."""
    if activation not in _chains:
        raise FlashpathError(
            f"scale_add_activation got the activation {activation!r}.", f"It takes {', '.join(_chains)}."
        )
    return _chains[activation](x, factor, y)
