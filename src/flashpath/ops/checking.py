"""What the public functions ask of their arguments, and how they refuse them.

Types, shapes and devices are checked by the operators themselves, with the code of the ladders' hosts: by the
kernels' side and by the fake side, which `torch.compile` and meta tensors see. Here is what has to be known
before an operator can be called.
"""

import math
import numbers
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NoReturn

import torch
from torch.autograd import forward_ad

from flashpath.errors import FlashpathError
from flashpath.messages import Message

Tensor = torch.Tensor
WIDEST = 2**29  # of a window: more than any sequence has, and kernels can add positions to it in int32
SYMBOLS = (torch.SymInt, torch.SymFloat)  # numbers that torch.compile does not know yet


# ---- Refusing --------------------------------------------------------------------------------------------


def _refuse(code: str, names: Sequence[str], values: Sequence[str]) -> None:
    raise FlashpathError(code, **dict(zip(names, values, strict=True)))


_library: Any = torch.library
_refusal: Any = _library.custom_op(
    "flashpath::refuse", _refuse, mutates_args=(), schema="(str code, str[] names, str[] values) -> ()"
)
_refusal.register_fake(_refuse)


def refuse(code: str, /, **params: Any) -> NoReturn:
    """Raises the error; under a compiler an operator does, since tracing a `raise` loses what it says."""
    if torch.compiler.is_compiling():
        _refusal(code, list(params), [_as_text(value) for value in params.values()])
    raise FlashpathError(code, **params)


def _as_text(value: Any) -> str:
    return str(value) if isinstance(value, str | int | float) else ", ".join(map(str, value))


_ATTENTIONS = ("attention", "attention_varlen", "attention_decode")


def called_as(
    name: str,
    operator: Callable[..., Any],
    *args: Any,
    words: Mapping[str, str] = MappingProxyType({}),
    **options: Any,
) -> Any:
    """Calls an attention for a function of that name: what it refuses is told by the function's own name.

    `words` are the names of arguments that the function has others for.
    """
    if torch.compiler.is_compiling():
        return operator(*args, **options)
    try:
        return operator(*args, **options)
    except FlashpathError as error:
        own = {key: _own_word(name, key, value, words) for key, value in error.said.params.items()}
        error.said = Message(error.code, own)
        raise


def _own_word(name: str, key: str, value: Any, words: Mapping[str, str]) -> Any:
    if isinstance(value, str) and value in _ATTENTIONS:
        return name
    return words.get(value, value) if key == "key" and isinstance(value, str) else value


# ---- Arguments -------------------------------------------------------------------------------------------


def require_tensors(name: str, **tensors: Any) -> None:
    """Dense tensors, without a tangent: an operator would drop it, and torch would go on with zeros."""
    for key, x in tensors.items():
        if not isinstance(x, Tensor):
            refuse("ops.no-tensor", name=name, key=key, x=f"{x!r:.80}")
        if x.is_nested:
            refuse("ops.nested", name=name, key=key)
        if x.layout != torch.strided:
            refuse("ops.layout", name=name, key=key, layout=x.layout)
        if not torch.compiler.is_compiling() and getattr(forward_ad, "_current_level", -1) >= 0:
            _refuse_tangent(name, key, x)


def _refuse_tangent(name: str, key: str, x: Tensor) -> None:
    differentiation: Any = forward_ad
    if differentiation.unpack_dual(x).tangent is not None:
        raise FlashpathError("ops.tangent", name=name, key=key)


def require_choice(name: str, what: str, value: Any, choices: tuple[str, ...]) -> None:
    """One of these words."""
    if not isinstance(value, str) or value not in choices:
        refuse("ops.no-choice", name=name, what=what, value=f"{value!r:.80}", choices=list(choices))


def number(name: str, key: str, value: Any) -> Any:
    """Returns the number that is given in any of the ways that Python, NumPy and torch have for one.

    One that requires a gradient is refused, since it would get none.
    """
    if isinstance(value, float) or (isinstance(value, int) and -(2**63) <= value < 2**63):
        return value
    if isinstance(value, SYMBOLS):
        return value
    if isinstance(value, int):
        refuse("ops.large-number", name=name, key=key, digits=len(f"{abs(value):x}") * 4)
    if isinstance(value, Tensor):
        if value.requires_grad and torch.is_grad_enabled():
            refuse("ops.number-gradient", name=name, key=key)
        is_number = value.numel() == 1 and not value.is_complex() and not value.is_meta
        if is_number:
            return value.detach().item()
    elif isinstance(value, numbers.Real):
        return number(name, key, int(value) if isinstance(value, numbers.Integral) else float(value))
    refuse("ops.no-number", name=name, key=key, value=f"{value!r:.80}")


def require_flag(name: str, key: str, value: Any) -> None:
    """True or False."""
    if not isinstance(value, (bool, torch.SymBool)):
        refuse("ops.no-flag", name=name, key=key, value=f"{value!r:.80}")


def require_whole(name: str, key: str, value: Any) -> None:
    """A whole number of 0 or more."""
    if isinstance(value, bool) or not isinstance(value, (int, torch.SymInt)):
        refuse("ops.not-whole", name=name, key=key, value=f"{value!r:.80}")
    if isinstance(value, int) and value < 0:
        refuse("ops.negative", name=name, key=key, value=value)


def window_sides(name: str, window: Any) -> tuple[int, int]:
    """(left, right) of a sliding window; -1 for no bound."""
    if window is None:
        return -1, -1
    is_pair = isinstance(window, (tuple, list)) and len(window) == 2  # pyright: ignore[reportUnknownArgumentType]
    sides: list[Any] = list(window) if is_pair else []  # pyright: ignore[reportUnknownArgumentType]
    whole = all(isinstance(side, (int, torch.SymInt)) and not isinstance(side, bool) for side in sides)
    too_low = any(isinstance(side, int) and side < -1 for side in sides)
    if not is_pair or not whole or too_low:
        refuse("ops.window", name=name, window=f"{window!r:.80}")
    left, right = (min(side, WIDEST) if isinstance(side, int) else side for side in sides)
    return left, right


def require_dim(name: str, x: Tensor, dim: Any) -> None:
    """A dimension of x; a tensor without any counts as one element in one, as torch has it."""
    rank = max(x.dim(), 1)
    if not isinstance(dim, int) or isinstance(dim, bool) or not -rank <= dim < rank:
        refuse(
            "ops.dim", name=name, dim=f"{dim!r:.80}", shape=str(tuple(x.shape)), value=-rank, rank=rank - 1
        )


def as_rows(x: Tensor) -> Tensor:
    """(…, n) as (rows, n), also where n is 0."""
    return x.reshape(math.prod(x.shape[:-1]), x.shape[-1])  # numel() would be lost on sizes nobody knows yet


_CHANNELS_LAST = (
    (torch.channels_last, (0, 2, 3, 1)),
    (torch.channels_last_3d, (0, 2, 3, 4, 1)),
)


def in_memory_order(function: Callable[..., Tensor], *arguments: Any) -> Tensor:
    """Calls a function of elements. Where all tensors keep channels last, the result does too: no copy."""
    tensors = [x for x in arguments if isinstance(x, Tensor)]
    for layout, order in _CHANNELS_LAST:
        if all(
            x.dim() == len(order) and not x.is_contiguous() and x.is_contiguous(memory_format=layout)
            for x in tensors
        ):
            given = [x.permute(order) if isinstance(x, Tensor) else x for x in arguments]
            return function(*given).movedim(-1, 1)
    return function(*arguments)


def known(value: Any) -> Any:
    """Returns the number, or 1, which always fits, where the fake side does not know its value yet."""
    return 1 if isinstance(value, SYMBOLS) else value
