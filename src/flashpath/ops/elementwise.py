"""Elementwise operators: one kernel each, and the chain scale, add, activation in one pass.

Their gradients are kernels, which torch cannot differentiate. Where a gradient is to be differentiated again
(create_graph=True) it is computed by torch's functions instead, in float32, from the same saved tensors.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal

import torch

from flashpath.kernels.elementwise.ladder import LADDER
from flashpath.kernels.elementwise.operations import GRADIENTS, checked, checked_gradient
from flashpath.ops.checking import in_memory_order, known, number, require_choice, require_tensors
from flashpath.ops.plans import planned
from flashpath.ops.registration import define, tell_if_slow

Tensor = torch.Tensor
Activation = Literal["relu", "gelu", "gelu_tanh", "silu"]


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
    "gelu": _gelu_slope,
    "gelu_tanh": _gelu_tanh_slope,
    "silu": _silu_slope,
}
ACTIVATIONS = ("relu", *SLOPES)


def _gradient(activation: str, grad: Tensor, x: Tensor) -> Tensor:
    """Returns the gradient of an activation's input; as in torch, relu's passes at NaN and is 0 below 0."""
    return torch.where(x <= 0, 0, grad) if activation == "relu" else grad * SLOPES[activation](x)


def _wide(x: Tensor) -> Tensor:
    """Slopes of half types are computed in float32, and rounded once."""
    return x.float() if x.dtype in (torch.float16, torch.bfloat16) else x


def _run(name: str) -> Callable[..., Any]:
    def forward(x: Tensor, *operands: Any) -> Any:
        tell_if_slow(name, x)
        ready = [each.contiguous() if isinstance(each, Tensor) else each for each in operands]
        return LADDER.best(x, name).rung(x.contiguous(), name, *ready)

    return forward


def _fake(name: str) -> Callable[..., Any]:
    def fake(x: Tensor, *operands: Any) -> Any:
        ready = [each.contiguous() if isinstance(each, Tensor) else known(each) for each in operands]
        if name in GRADIENTS:
            return checked_gradient(x.contiguous(), name, ready, None).returned
        return checked(x.contiguous(), name, ready, None).out

    return fake


def _of_kernel(name: str, schema: str) -> Callable[..., Any]:
    """The operator for the gradient of another; its first argument is the gradient that comes in."""
    return define(f"{name}_backward", schema, _run(f"{name}_backward"), _fake(f"{name}_backward"))


# ---- Activations ---------------------------------------------------------------------------------------


def _save_input(ctx: Any, inputs: Sequence[Any], _output: Any) -> None:
    ctx.save_for_backward(inputs[0])


def _activation(name: str) -> Callable[[Tensor], Tensor]:
    of_kernel = _of_kernel(name, "(Tensor dout, Tensor x) -> Tensor")

    def backward(ctx: Any, grad: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        if not torch.is_grad_enabled():
            return of_kernel(grad, x)
        return activation_gradient(name, grad, x)

    return define(name, "(Tensor x) -> Tensor", _run(name), _fake(name), backward, _save_input)


def activated(name: str, x: Tensor) -> Tensor:
    """The activation of that name, for operators that are made of several."""
    return _activations[name](x)


def activation_gradient(name: str, grad: Tensor, x: Tensor) -> Tensor:
    """The gradient of an activation's input, by torch's functions, in float32 of half types."""
    return _gradient(name, _wide(grad), _wide(x)).to(grad.dtype)


def _gated(activation: str) -> Callable[[Tensor], Tensor]:
    name = f"{activation}_and_mul"
    of_kernel = _of_kernel(name, "(Tensor dout, Tensor x) -> Tensor")

    def backward(ctx: Any, grad: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        if not torch.is_grad_enabled():
            return of_kernel(grad, x)
        gate, up = (_wide(half) for half in x.chunk(2, dim=-1))
        value = host_value(activation, gate)
        wide = _wide(grad)
        return torch.cat((wide * up * SLOPES[activation](gate), wide * value), dim=-1).to(grad.dtype)

    return define(name, "(Tensor x) -> Tensor", _run(name), _fake(name), backward, _save_input)


def host_value(activation: str, x: Tensor) -> Tensor:
    """The activation itself, in torch: the other factor of a gate's gradient."""
    if activation == "silu":
        return torch.nn.functional.silu(x)
    return torch.nn.functional.gelu(x, approximate="tanh" if activation == "gelu_tanh" else "none")


_activations = {name: _activation(name) for name in ACTIVATIONS}
_gates = {name: _gated(name) for name in ("silu", "gelu", "gelu_tanh")}


def _gate_of_two(name: str, activation: str) -> Callable[..., Tensor]:
    of_kernel = _of_kernel(name, "(Tensor dout, Tensor gate, Tensor up) -> (Tensor, Tensor)")

    def save(ctx: Any, inputs: Sequence[Any], _output: Any) -> None:
        ctx.save_for_backward(*inputs)

    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor]:
        gate, up = ctx.saved_tensors
        if not torch.is_grad_enabled():
            return of_kernel(grad, gate, up)
        gate, up, wide = _wide(gate), _wide(up), _wide(grad)
        of_gate = wide * up * SLOPES[activation](gate)
        return of_gate.to(grad.dtype), (wide * host_value(activation, gate)).to(grad.dtype)

    return define(name, "(Tensor gate, Tensor up) -> Tensor", _run(name), _fake(name), backward, save)


_gates_of_two = {
    name: _gate_of_two(name, activation)
    for name, activation in (("swiglu", "silu"), ("geglu", "gelu"), ("geglu_tanh", "gelu_tanh"))
}


@planned
def relu(x: Tensor) -> Tensor:
    """`max(x, 0)`; NaN stays.

    x: float32, float16, bfloat16 or int32. Gradient: 1 above 0 and at NaN, 0 at 0 and below, as torch has it.
    """
    require_tensors("relu", x=x)
    return in_memory_order(_activations["relu"], x)


@planned
def gelu(x: Tensor) -> Tensor:
    """`x Φ(x)`, with Φ of the normal distribution; NaN stays.

    x: float32, float16 or bfloat16, computed in float32 and rounded once. It has a gradient.
    """
    require_tensors("gelu", x=x)
    return in_memory_order(_activations["gelu"], x)


@planned
def gelu_tanh(x: Tensor) -> Tensor:
    """The tanh approximation of `gelu`: `F.gelu(x, approximate="tanh")`; NaN stays.

    x: float32, float16 or bfloat16, computed in float32 and rounded once. It has a gradient.
    """
    require_tensors("gelu_tanh", x=x)
    return in_memory_order(_activations["gelu_tanh"], x)


@planned
def silu(x: Tensor) -> Tensor:
    """`x / (1 + exp(-x))`; NaN stays.

    x: float32, float16 or bfloat16, computed in float32 and rounded once. It has a gradient.
    """
    require_tensors("silu", x=x)
    return in_memory_order(_activations["silu"], x)


@planned
def silu_and_mul(x: Tensor) -> Tensor:
    """`silu(gate) * up`, where the last dimension of x is gate, then up: (…, 2 d) → (…, d), in one pass.

    x: float32, float16 or bfloat16, computed in float32 and rounded once. It has a gradient.
    """
    require_tensors("silu_and_mul", x=x)
    return _gates["silu"](x)


@planned
def gelu_and_mul(x: Tensor) -> Tensor:
    """`gelu(gate) * up`, where the last dimension of x is gate, then up: (…, 2 d) → (…, d), in one pass.

    x: float32, float16 or bfloat16, computed in float32 and rounded once. It has a gradient.
    """
    require_tensors("gelu_and_mul", x=x)
    return _gates["gelu"](x)


@planned
def gelu_tanh_and_mul(x: Tensor) -> Tensor:
    """`gelu_tanh(gate) * up`, where the last dimension of x is gate, then up: (…, 2 d) → (…, d), in one pass.

    x: float32, float16 or bfloat16, computed in float32 and rounded once. It has a gradient.
    """
    require_tensors("gelu_tanh_and_mul", x=x)
    return _gates["gelu_tanh"](x)


@planned
def swiglu(gate: Tensor, up: Tensor) -> Tensor:
    """`silu(gate) * up` of two tensors, in one pass: of one shape, type and device.

    float32, float16 or bfloat16, computed in float32 and rounded once. Gradients: of both, in one pass.
    """
    require_tensors("swiglu", gate=gate, up=up)
    return in_memory_order(_gates_of_two["swiglu"], gate, up)


@planned
def geglu(gate: Tensor, up: Tensor) -> Tensor:
    """`gelu(gate) * up` of two tensors, in one pass: of one shape, type and device.

    float32, float16 or bfloat16, computed in float32 and rounded once. Gradients: of both, in one pass.
    """
    require_tensors("geglu", gate=gate, up=up)
    return in_memory_order(_gates_of_two["geglu"], gate, up)


@planned
def geglu_tanh(gate: Tensor, up: Tensor) -> Tensor:
    """`gelu_tanh(gate) * up` of two tensors, in one pass: of one shape, type and device.

    float32, float16 or bfloat16, computed in float32 and rounded once. Gradients: of both, in one pass.
    """
    require_tensors("geglu_tanh", gate=gate, up=up)
    return in_memory_order(_gates_of_two["geglu_tanh"], gate, up)


# ---- Operators with operands ---------------------------------------------------------------------------


def _save_factor(ctx: Any, inputs: Sequence[Any], _output: Any) -> None:
    ctx.factor = inputs[1]


def _scale_backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
    return _scale(grad, ctx.factor), None


_scale = define(
    "scale",
    "(Tensor x, Scalar factor) -> Tensor",
    _run("scale"),
    _fake("scale"),
    _scale_backward,
    _save_factor,
)


def _add_backward(_ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor]:
    return grad, grad


_add = define("add", "(Tensor x, Tensor y) -> Tensor", _run("add"), _fake("add"), _add_backward)


def _save_clamp(ctx: Any, inputs: Sequence[Any], _output: Any) -> None:
    x, ctx.low, ctx.high = inputs
    ctx.save_for_backward(x)


_clamp_gradient = _of_kernel("clamp", "(Tensor dout, Scalar low, Scalar high, Tensor x) -> Tensor")


def _clamp_backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
    (x,) = ctx.saved_tensors
    if not torch.is_grad_enabled():
        return _clamp_gradient(grad, ctx.low, ctx.high, x), None, None
    return torch.where((x >= ctx.low) & (x <= ctx.high), grad, 0), None, None


_clamp = define(
    "clamp",
    "(Tensor x, Scalar low, Scalar high) -> Tensor",
    _run("clamp"),
    _fake("clamp"),
    _clamp_backward,
    _save_clamp,
)


@planned
def scale(x: Tensor, factor: float) -> Tensor:
    """`factor * x`.

    x: float32, float16, bfloat16, or int32 with an int factor. Gradient: of x.
    """
    require_tensors("scale", x=x)
    factor = number("scale", "factor", factor)
    return in_memory_order(_scale, x, factor)


@planned
def add(x: Tensor, y: Tensor) -> Tensor:
    """`x + y`, of one shape, type and device: nothing is broadcast.

    Both float32, float16, bfloat16 or int32. Gradients: of both.
    """
    require_tensors("add", x=x, y=y)
    return in_memory_order(_add, x, y)


@planned
def clamp(x: Tensor, low: float, high: float) -> Tensor:
    """Every element brought between `low` and `high`; NaN stays. Where low > high, all become high.

    x: float32, float16, bfloat16, or int32 with int bounds. Gradient: of x, 1 between the bounds and at them.
    """
    require_tensors("clamp", x=x)
    low, high = number("clamp", "low", low), number("clamp", "high", high)
    return in_memory_order(_clamp, x, low, high)


# ---- The chain -----------------------------------------------------------------------------------------


def _chain(activation: str) -> Callable[..., Tensor]:
    name = f"scale_add_{activation}"
    of_kernel = _of_kernel(name, "(Tensor dout, float factor, Tensor x, Tensor y) -> (Tensor, Tensor)")

    def save(ctx: Any, inputs: Sequence[Any], _output: Any) -> None:
        x, ctx.factor, y = inputs
        ctx.save_for_backward(x, y)

    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, Tensor]:
        x, y = ctx.saved_tensors
        if not torch.is_grad_enabled():
            dx, dy = of_kernel(grad, ctx.factor, x, y)
            return dx, None, dy
        x, y = _wide(x), _wide(y)
        inner = _gradient(activation, _wide(grad), x * ctx.factor + y)
        return (inner * ctx.factor).to(grad.dtype), None, inner.to(grad.dtype)

    return define(
        name, "(Tensor x, float factor, Tensor y) -> Tensor", _run(name), _fake(name), backward, save
    )


_chains = {name: _chain(name) for name in ACTIVATIONS}


@planned
def scale_add_activation(x: Tensor, factor: float, y: Tensor, activation: Activation) -> Tensor:
    """`activation(factor * x + y)` in one pass, rounded once: relu, gelu, gelu_tanh or silu.

    x and y: of one shape and type, float32, float16 or bfloat16. Gradients: of x and y.
    """
    require_tensors("scale_add_activation", x=x, y=y)
    factor = number("scale_add_activation", "factor", factor)
    require_choice("scale_add_activation", "activation", activation, tuple(_chains))
    return in_memory_order(_chains[activation], x, factor, y)
