"""The operations of the elementwise ladder: what each is called and takes; calls are checked here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flashpath.errors import FlashpathError
from flashpath.kernels.arguments import FLOATS, output, require_apart, require_like, require_tensor
from flashpath.kernels.building import dtype_name


@dataclass(frozen=True)
class Operation:
    """One operation. `functors` are the steps in operations.cuh; more than one make a chain."""

    name: str
    functors: tuple[str, ...]
    operands: tuple[str, ...] = ()  # what follows the operation's name in a call
    gated: bool = False  # (…, 2 d) → (…, d)
    takes_integers: bool = False
    flops: int = 1  # of one element, the special functions counted as one

    @property
    def is_gate(self) -> bool:
        """Whether it multiplies an activation, of the halves of a row or of two tensors."""
        return self.functors[0].startswith("Gated<")

    @property
    def reads_y(self) -> bool:
        return "y" in self.operands

    @property
    def streams(self) -> int:
        """How many elements must be moved for each one that is written, that one included."""
        return 3 if self.gated or self.reads_y else 2

    @property
    def dtypes(self) -> tuple[str, ...]:
        return (*FLOATS, "int32") if self.takes_integers else FLOATS


@dataclass(frozen=True)
class Gradient:
    """The backward direction of an operation that has two tensors, or two halves: both gradients at once.

    Without a factor it is that of a gate.
    """

    name: str
    activation: str  # the functor
    gated: bool
    operands: tuple[str, ...]
    flops: int

    @property
    def is_chain(self) -> bool:
        return "factor" in self.operands

    streams = 5
    """Elements that are moved for each one of the gradient that comes in, that one included."""


_ACTIVATIONS = {"relu": ("Relu", 1), "gelu": ("Gelu", 5), "gelu_tanh": ("GeluTanh", 8), "silu": ("Silu", 4)}
_SLOPES = {"relu": 1, "gelu": 9, "gelu_tanh": 16, "silu": 8}  # FLOPs of the derivative

OPERATIONS = {
    operation.name: operation
    for operation in (
        Operation("scale", ("Scale",), ("factor",), takes_integers=True),
        Operation("add", ("Add",), ("y",), takes_integers=True),
        Operation("relu", ("Relu",), takes_integers=True),
        Operation("gelu", ("Gelu",), flops=5),
        Operation("gelu_tanh", ("GeluTanh",), flops=8),
        Operation("silu", ("Silu",), flops=4),
        Operation("clamp", ("Clamp",), ("low", "high"), takes_integers=True, flops=2),
        *(
            Operation(f"{name}_and_mul", (f"Gated<{_ACTIVATIONS[name][0]}>",), gated=True, flops=flops)
            for name, flops in (("silu", 5), ("gelu", 6), ("gelu_tanh", 9))
        ),
        *(
            Operation(two, (f"Gated<{_ACTIVATIONS[name][0]}>",), ("y",), flops=flops)
            for name, two, flops in (
                ("silu", "swiglu", 5),
                ("gelu", "geglu", 6),
                ("gelu_tanh", "geglu_tanh", 9),
            )
        ),
        *(
            Operation(f"scale_add_{name}", ("Scale", "Add", functor), ("factor", "y"), flops=flops + 2)
            for name, (functor, flops) in _ACTIVATIONS.items()
        ),
        # Called with the gradient that comes in; y is what the activation was given.
        *(
            Operation(f"{name}_backward", (f"Backward<{functor}>",), ("y",), flops=_SLOPES[name] + 1)
            for name, (functor, _) in _ACTIVATIONS.items()
        ),
        Operation("clamp_backward", ("ClampBackward",), ("low", "high", "y"), flops=3),
    )
}

GRADIENTS = {
    gradient.name: gradient
    for gradient in (
        *(
            Gradient(f"{name}_and_mul_backward", _ACTIVATIONS[name][0], True, ("x",), _SLOPES[name] + 4)
            for name in ("silu", "gelu", "gelu_tanh")
        ),
        *(
            Gradient(f"{two}_backward", _ACTIVATIONS[name][0], False, ("x", "y"), _SLOPES[name] + 4)
            for name, two in (("silu", "swiglu"), ("gelu", "geglu"), ("gelu_tanh", "geglu_tanh"))
        ),
        *(
            Gradient(
                f"scale_add_{name}_backward", functor, False, ("factor", "x", "y"), flops=_SLOPES[name] + 4
            )
            for name, (functor, _) in _ACTIVATIONS.items()
        ),
    )
}

# The operation that a functor is by itself: the steps of a chain.
SINGLE = {
    each.functors[0]: each for each in OPERATIONS.values() if len(each.functors) == 1 and not each.is_gate
}


@dataclass(frozen=True)
class Call:
    """One checked call, ready for a launch."""

    operation: Operation
    x: Any
    y: Any  # x itself where the operation reads no second tensor
    out: Any
    scalars: tuple[Any, Any]


def checked(x: Any, name: str, operands: Sequence[Any], out: Any | None) -> Call:
    """The call, its output made where there is none; what does not fit is refused before anything runs."""
    operation = OPERATIONS.get(name)
    if operation is None:
        raise _unknown(name, OPERATIONS)
    _require_as_many(operation, operands)
    require_tensor(name, "x", x, operation.dtypes)
    named = dict(zip(operation.operands, operands, strict=True))
    y = named.pop("y", None)
    if y is not None:
        require_like(name, "y", y, x.shape, x.dtype, x.device)
    scalars = [_number(name, key, value, x) for key, value in named.items()]
    shape = _out_shape(operation, x)
    result = output(name, out, shape, x.dtype, x.device)
    if out is not None:
        require_apart(name, result, x, *([] if y is None else [y]), in_place=not operation.gated)
    first, second = (*scalars, 0, 0)[:2]
    return Call(operation, x, x if y is None else y, result, (first, second))


@dataclass(frozen=True)
class GradientCall:
    """One checked call of a gradient; of a gated one, the results are the halves of one tensor."""

    gradient: Gradient
    dout: Any
    x: Any
    y: Any
    factor: float
    results: tuple[Any, ...]  # dx, and of a chain dy

    @property
    def returned(self) -> Any:
        return self.results[0] if self.gradient.gated else self.results


def checked_gradient(dout: Any, name: str, operands: Sequence[Any], out: Any | None) -> GradientCall:
    """Returns the call, its outputs made where there are none; `out` of a chain is a pair."""
    gradient = GRADIENTS.get(name)
    if gradient is None:
        raise _unknown(name, GRADIENTS)
    _require_as_many(gradient, operands)
    named = dict(zip(gradient.operands, operands, strict=True))
    x, y = named["x"], named.get("y")
    require_tensor(name, "dout", dout, FLOATS)
    shape = tuple(dout.shape)
    if gradient.gated:
        require_tensor(name, "x", x, FLOATS)
        if not shape or tuple(x.shape) != (*shape[:-1], 2 * shape[-1]):
            raise FlashpathError("kernels.elementwise-halves", name=name, shape=str(tuple(x.shape)))
        require_like(name, "x", x, x.shape, dout.dtype, dout.device)
    else:
        require_like(name, "x", x, shape, dout.dtype, dout.device)
        require_like(name, "y", y, shape, dout.dtype, dout.device)
    factor = _number(name, "factor", named["factor"], dout) if gradient.is_chain else 1.0
    given = (out,) if gradient.gated else (None, None) if out is None else tuple(out)
    results = tuple(output(name, each, x.shape, x.dtype, x.device) for each in given)
    for i, each in enumerate(given):
        if each is not None:
            require_apart(name, each, dout, x, *([] if y is None else [y]), *results[:i])
    return GradientCall(gradient, dout, x, y, factor, results)


def _unknown(name: str, known: Mapping[str, Any]) -> FlashpathError:
    return FlashpathError("kernels.elementwise-unknown", name=f"{name!r}", operations=list(known))


def _require_as_many(operation: Operation | Gradient, operands: Sequence[Any]) -> None:
    if len(operands) != len(operation.operands):
        wanted = ", ".join(operation.operands) or "nothing"
        first = "dout" if isinstance(operation, Gradient) else "x"
        example = f"rung({', '.join((first, repr(operation.name), *operation.operands))})"
        raise FlashpathError(
            "kernels.elementwise-operands",
            name=operation.name,
            operands=len(operands),
            wanted=wanted,
            example=example,
        )


def _out_shape(operation: Operation, x: Any) -> tuple[int, ...]:
    if not operation.gated:
        return tuple(x.shape)
    if x.dim() == 0 or x.shape[-1] % 2:
        raise FlashpathError("kernels.elementwise-halves", name=operation.name, shape=str(tuple(x.shape)))
    return (*x.shape[:-1], x.shape[-1] // 2)


def _number(name: str, key: str, value: Any, x: Any) -> Any:
    """A scalar operand: a float, or for integer tensors an int that fits."""
    if dtype_name(x) != "int32":
        if isinstance(value, (int, float)):
            return float(value)
        raise FlashpathError("kernels.elementwise-number", name=name, key=key, value=f"{value!r}")
    if isinstance(value, int) and -(2**31) <= value < 2**31:
        return int(value)
    raise FlashpathError("kernels.elementwise-int32", name=name, key=key, value=f"{value!r}")
