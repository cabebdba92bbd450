"""How modules call operators: on what operators take, and without autocast, of which they know nothing.

A module that stands in another's place must also do what that one did for tensors of other kinds: subclasses
(DTensor), functorch's transforms, forward-mode tangents, types that no kernel has. `takes` says which they
are, in a fraction of a microsecond.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.autograd import forward_ad

Tensor = torch.Tensor

FLOATS = (torch.float32, torch.bfloat16, torch.float16)
HALVES = (torch.bfloat16, torch.float16)
DEVICES = ("cuda", "cpu", "meta")
_TYPES = (Tensor, torch.nn.Parameter)
_torch: Any = torch
_c = _torch._C
_transforms = _c._functorch.peek_interpreter_stack
_has_autocast = _c._is_any_autocast_enabled
_is_compiling = torch.compiler.is_compiling
_forward_mode: Any = forward_ad


def takes(x: Tensor, kinds: tuple[torch.dtype, ...] = FLOATS) -> bool:
    """Whether operators take this tensor as a torch function would: a plain one, without a transform."""
    if x.__class__ not in _TYPES or x.dtype not in kinds:
        return False
    return _is_compiling() or (_transforms() is None and _forward_mode._current_level < 0)


def is_autocast(x: Tensor) -> bool:
    """Whether autocast would change what torch's own functions make of this tensor."""
    if _is_compiling():
        return _torch.is_autocast_enabled(x.device.type)
    return _has_autocast() and _torch.is_autocast_enabled(x.device.type)


def without_autocast(operator: Callable[..., Any]) -> Callable[..., Any]:
    """Calls an operator with autocast off, under which it would have no plan; the result is the same."""

    def call(*args: Any, **kwargs: Any) -> Any:
        if _is_compiling() or not _has_autocast():
            return operator(*args, **kwargs)
        with torch.autocast(args[0].device.type, enabled=False):
            return operator(*args, **kwargs)

    return call
