"""Rotary embedding: an attention whose forward calls `apply_rotary_pos_emb` gets one that calls `ops.rope`.

The function is a global of the model's file, which other models of the process share. So the forward is not
told by changing the file: it is made again from its own code, with that one name bound to ours.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from flashpath import ops
from flashpath.nn.calling import takes, without_autocast
from flashpath.nn.patching.probing import agrees, numbers
from flashpath.nn.patching.swapping import Forward, Kind, makes

Tensor = torch.Tensor
FUNCTION = "apply_rotary_pos_emb"
_rope = without_autocast(ops.rope)


def calls_rotary(module: nn.Module) -> bool:
    """Whether a module's own forward calls the function by its global name."""
    forward: Any = type(module).forward
    code = getattr(forward, "__code__", None)
    return code is not None and FUNCTION in code.co_names and FUNCTION in forward.__globals__


def rotary_kind(module: nn.Module) -> Kind | None:
    """Which pairs the function turns, how it is given their angles, and whether it leaves the rest of a head.

    None where it does not do what its name says.
    """
    own: Any = getattr(type(module).forward, "__globals__", {}).get(FUNCTION)
    for interleaved in (False, True):
        for together in (False, True):
            if _agrees(own, 8, interleaved, together):
                return ("rotary", interleaved, together, _agrees(own, 16, interleaved, together))
    return None


def _agrees(own: Any, dim: int, interleaved: bool, together: bool) -> bool:
    """Whether the function turns the first eight elements of heads of that dimension.

    The angle of a pair is given twice: in both halves, or twice `together`.
    """
    q, k = numbers(2, 4, 3, dim), numbers(2, 2, 3, dim, seed=1)
    angles = numbers(1, 3, 4, seed=2)
    cos, sin = (
        each.repeat_interleave(2, -1) if together else torch.cat((each, each), -1)
        for each in (angles.cos(), angles.sin())
    )

    def formula() -> tuple[Tensor, Tensor]:
        turned = (_turned(x[..., :8], angles, interleaved) for x in (q, k))
        q_turned, k_turned = (torch.cat((y, x[..., 8:]), -1) for y, x in zip(turned, (q, k), strict=True))
        return q_turned, k_turned

    return agrees(lambda: tuple(own(q, k, cos, sin)), formula)


def _turned(x: Tensor, angles: Tensor, interleaved: bool) -> Tensor:
    cos, sin = angles.cos().unsqueeze(1), angles.sin().unsqueeze(1)
    first, second = (x[..., ::2], x[..., 1::2]) if interleaved else x.chunk(2, dim=-1)
    turned = first * cos - second * sin, second * cos + first * sin
    return torch.stack(turned, -1).flatten(-2) if interleaved else torch.cat(turned, -1)


@makes("rotary")
def _of_rotary(base: Any, interleaved: bool, together: bool, is_partial: bool) -> Forward:
    own: types.FunctionType = base.forward
    ours = _function(own.__globals__[FUNCTION], interleaved, together, is_partial)
    names = {**own.__globals__, FUNCTION: ours}
    # By this name torch.compile would look up globals in the module itself, and find its own function.
    names.pop("__name__", None)
    made = types.FunctionType(own.__code__, names, own.__name__, own.__defaults__, own.__closure__)
    made.__kwdefaults__ = own.__kwdefaults__
    made.__annotations__ = own.__annotations__
    made.__doc__, made.__qualname__, made.__module__ = own.__doc__, own.__qualname__, own.__module__
    return made


def _function(
    own: Callable[..., Any], interleaved: bool, together: bool, is_partial: bool
) -> Callable[..., Any]:
    def apply_rotary_pos_emb(
        q: Tensor, k: Tensor, cos: Tensor, sin: Tensor, *args: Any, **kwargs: Any
    ) -> Any:
        """q, k: (batch, heads, sequence, dim); cos, sin: (batch or 1, sequence, dim), each angle twice."""
        is_whole = cos.shape[-1] == q.shape[-1]
        if args or kwargs or not (is_whole or is_partial) or not _fits(q, k, cos, sin):
            return own(q, k, cos, sin, *args, **kwargs)
        pairs = cos.shape[-1] // 2
        angles = slice(None, None, 2) if together else slice(pairs)
        q, k = _rope(
            q.transpose(1, 2),
            k.transpose(1, 2),
            cos[..., angles],
            sin[..., angles],
            interleaved=interleaved,
        )
        return q.transpose(1, 2), k.transpose(1, 2)

    return apply_rotary_pos_emb


def _fits(q: Tensor, k: Tensor, cos: Tensor, sin: Tensor) -> bool:
    return (
        takes(q)
        and takes(cos)
        and q.dtype == k.dtype
        and cos.dtype == sin.dtype
        and cos.dtype in (q.dtype, torch.float32)
        and cos.dim() == 3
        and q.dim() == 4
        and cos.shape[-1] <= q.shape[-1]
        and not (cos.requires_grad or sin.requires_grad)
    )
