"""The operations of the elementwise ladder: what each is called and takes; calls are checked here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from flashpath.errors import FlashpathError
from flashpath.kernels.arguments import FLOATS, output, require_apart, require_like, require_tensor
from flashpath.kernels.building import dtype_name

_FIXES = {
    "factor": 'rung(x, "scale", 0.5)',
    "low": 'rung(x, "clamp", -1.0, 1.0)',
    "y": 'rung(x, "add", y), y like x',
}


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
    def reads_y(self) -> bool:
        return "y" in self.operands

    @property
    def streams(self) -> int:
        """How many elements must be moved for each one that is written, that one included."""
        return 3 if self.gated or self.reads_y else 2

    @property
    def dtypes(self) -> tuple[str, ...]:
        return (*FLOATS, "int32") if self.takes_integers else FLOATS


_ACTIVATIONS = {"relu": ("Relu", 1), "gelu": ("Gelu", 5), "gelu_tanh": ("GeluTanh", 8), "silu": ("Silu", 4)}

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
            Operation(f"scale_add_{name}", ("Scale", "Add", functor), ("factor", "y"), flops=flops + 2)
            for name, (functor, flops) in _ACTIVATIONS.items()
        ),
    )
}

# The operation that a functor is by itself: the steps of a chain.
SINGLE = {each.functors[0]: each for each in OPERATIONS.values() if len(each.functors) == 1}


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
        raise FlashpathError("kernels.elementwise-unknown", name=f"{name!r}", operations=list(OPERATIONS))
    if len(operands) != len(operation.operands):
        wanted = ", ".join(operation.operands) or "nothing"
        example = _FIXES.get(next(iter(operation.operands), ""), f'rung(x, "{name}")')
        raise FlashpathError(
            "kernels.elementwise-operands", name=name, operands=len(operands), wanted=wanted, example=example
        )
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
