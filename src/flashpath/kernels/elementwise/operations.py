"""The operations of the elementwise ladder: what each is called and takes; calls are checked here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from flashpath.errors import FlashpathError
from flashpath.kernels.building import dtype_name

FLOATS = ("float32", "float16", "bfloat16")
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
    import torch

    operation = OPERATIONS.get(name)
    if operation is None:
        raise FlashpathError(f"There is no operation {name!r}.", f"There are: {', '.join(OPERATIONS)}.")
    if len(operands) != len(operation.operands):
        wanted = ", ".join(operation.operands) or "nothing"
        example = _FIXES.get(next(iter(operation.operands), ""), f'rung(x, "{name}")')
        raise FlashpathError(
            f"{name} got {len(operands)} operands after its name; it takes {wanted}.", f"Write {example}."
        )
    if dtype_name(x) not in operation.dtypes:
        raise FlashpathError(f"{name} got {dtype_name(x)}.", f"It takes {', '.join(operation.dtypes)}.")
    named = dict(zip(operation.operands, operands, strict=True))
    y = named.pop("y", None)
    if y is not None:
        _check_like(name, "y", y, x, tuple(x.shape))
    if not x.is_contiguous():
        raise FlashpathError(f"{name} got a non-contiguous tensor.", "Pass x.contiguous().")
    scalars = [_number(name, key, value, x) for key, value in named.items()]
    shape = _out_shape(operation, x)
    if out is None:
        out = torch.empty(shape, dtype=x.dtype, device=x.device)
    else:
        _check_like(name, "out=", out, x, shape)
        _check_apart(operation, out, [x] if y is None else [x, y])
    first, second = (*scalars, 0, 0)[:2]
    return Call(operation, x, x if y is None else y, out, (first, second))


def _out_shape(operation: Operation, x: Any) -> tuple[int, ...]:
    if not operation.gated:
        return tuple(x.shape)
    if x.dim() == 0 or x.shape[-1] % 2:
        raise FlashpathError(
            f"{operation.name} got the shape {tuple(x.shape)}.",
            "Its last dimension holds two halves of one length: the gate, then what is gated.",
        )
    return (*x.shape[:-1], x.shape[-1] // 2)


def _check_like(name: str, what: str, tensor: Any, x: Any, shape: tuple[int, ...]) -> None:
    import torch

    wanted = f"{shape}, {dtype_name(x)}, on {x.device}, contiguous"
    if not isinstance(tensor, torch.Tensor):
        raise FlashpathError(f"{name} got {what} {tensor!r}.", f"It must be a tensor: {wanted}.")
    same_kind = tensor.dtype == x.dtype and tensor.device == x.device
    if tuple(tensor.shape) != shape or not same_kind or not tensor.is_contiguous():
        raise FlashpathError(
            f"{name} got {what} of shape {tuple(tensor.shape)}, {dtype_name(tensor)}, on {tensor.device}"
            f"{'' if tensor.is_contiguous() else ', non-contiguous'}.",
            f"It must be {wanted}.",
        )


def _number(name: str, key: str, value: Any, x: Any) -> Any:
    """A scalar operand: a float, or for integer tensors an int that fits."""
    if dtype_name(x) != "int32":
        if isinstance(value, (int, float)):
            return float(value)
        raise FlashpathError(f"{name} got {key} {value!r}.", "It must be a number.")
    if isinstance(value, int) and -(2**31) <= value < 2**31:
        return int(value)
    raise FlashpathError(
        f"{name} of int32 got {key} {value!r}.", "It must be an int of 32 bits; for others pass x.float()."
    )


def _check_apart(operation: Operation, out: Any, inputs: Sequence[Any]) -> None:
    """An output may be an input, element on element; anywhere else it would be overwritten too early."""

    def span(tensor: Any) -> tuple[int, int]:
        first: int = tensor.data_ptr()
        return first, first + tensor.numel() * tensor.element_size()

    start, end = span(out)
    for tensor in inputs:
        first, last = span(tensor)
        if start < last and first < end and (operation.gated or start != first):
            raise FlashpathError(
                f"{operation.name} got an out= that overlaps an input.",
                "Give it memory of its own" + ("." if operation.gated else ", or exactly the input."),
            )
