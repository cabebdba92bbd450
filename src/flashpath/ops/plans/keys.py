"""Keys of calls: made by a function that is generated for the types of a call's arguments.

For a tensor and a keyword `dim`, an int, its text is

    def make(a0, dim):
        return (
            (3, a0.shape, a0.stride(), a0.dtype, a0.data_ptr() & 15, a0.is_cuda, a0.is_neg(), dim,),
            a0.requires_grad,
            (a0,),
        )

Types are what the function is found by, and the first of the key is its number: True is not taken for 1, nor
1 for 1.0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

_TENSORS = (torch.Tensor, torch.nn.Parameter)
_PLAIN = (bool, int, str, type(None), torch.dtype)
Maker = Callable[..., tuple[Any, bool, tuple[Any, ...]]]


class KeyMakers:
    """The functions of one operator by the types of positional arguments, then names, then their types."""

    def __init__(self) -> None:
        self._makers: dict[tuple[Any, ...], Maker | None] = {}

    def get(self, types: tuple[Any, ...]) -> Maker | None:
        """Returns the function for such a call; None where it can have no plan."""
        try:
            return self._makers[types]
        except KeyError:
            made = self._makers[types] = _maker(types, len(self._makers))
            return made


def is_plain(value: Any) -> bool:
    """Whether a plan can depend on an argument's key alone."""
    if isinstance(value, torch.Tensor):
        return value.is_cuda and value.layout == torch.strided and not value.is_neg()
    return not isinstance(value, tuple) or all(type(each) is int for each in value)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]


def _maker(types: tuple[Any, ...], number: int) -> Maker | None:
    names = [each for each in types if isinstance(each, str)]
    positional = types[: len(types) - 2 * len(names)]
    arguments = [(f"a{i}", kind) for i, kind in enumerate(positional)]
    arguments += zip(names, types[len(types) - len(names) :], strict=True)
    key, gradient, tensors = f"{number}, ", list[str](), ""
    for name, kind in arguments:
        if kind in _TENSORS:
            key += f"{name}.shape, {name}.stride(), {name}.dtype, {name}.data_ptr() & 15, "
            key += f"{name}.is_cuda, {name}.is_neg(), "
            gradient.append(f"{name}.requires_grad")
            tensors += f"{name}, "
        elif kind is float:
            key += f"{name} or repr({name}), "  # 0.0 equals -0.0
        elif kind is tuple:
            key += f"{name}, *map(type, {name}), "
        elif kind in _PLAIN:
            key += f"{name}, "
        else:
            return None
    text = f"def make({', '.join(name for name, _ in arguments)}):\n"
    text += f"    return ({key}), {' or '.join(gradient) or 'False'}, ({tensors})\n"
    values: dict[str, Any] = {}
    exec(text, values)  # only our own names and those of the call's keywords are in the text
    return values["make"]
