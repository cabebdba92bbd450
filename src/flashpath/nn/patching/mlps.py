"""Gated MLPs: gate_proj, up_proj and down_proj, or gate_up_proj in one, as the probe finds them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from flashpath.nn.calling import takes
from flashpath.nn.gated import GATES, PACKED_GATES
from flashpath.nn.patching.probing import Product, agrees, numbers, twin
from flashpath.nn.patching.swapping import Forward, Kind, makes

Tensor = torch.Tensor
TWO, PACKED = {"gate_proj", "up_proj", "down_proj"}, {"gate_up_proj", "down_proj"}
_ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "silu": nn.functional.silu,
    "gelu": nn.functional.gelu,
    "gelu_tanh": lambda x: nn.functional.gelu(x, approximate="tanh"),
}
_HIDDEN, _BETWEEN = 8, 16
_SHAPES = (_HIDDEN, _BETWEEN), (_HIDDEN, _BETWEEN), (_BETWEEN, _HIDDEN)


def is_gated(module: nn.Module) -> bool:
    """Whether it has the parts of a gated MLP."""
    names = set(module.__dict__["_modules"])
    return names >= TWO or names >= PACKED


def mlp_kind(module: nn.Module) -> Kind | None:
    """Which gate an MLP has; None where its forward does more, or other things, than the formula."""
    modules = module.__dict__["_modules"]
    has_two = set(modules) >= TWO
    gate, up, down = (Product(*shape, seed=i) for i, shape in enumerate(_SHAPES))
    both = Product(_HIDDEN, 2 * _BETWEEN, seed=3)
    parts = {"gate_proj": gate, "up_proj": up} if has_two else {"gate_up_proj": both}
    parts["down_proj"] = down
    probe = twin(module, {}, parts)
    x = numbers(2, 3, _HIDDEN, seed=4) * 3
    for name, activation in _ACTIVATIONS.items():

        def formula(activation: Callable[[Tensor], Tensor] = activation) -> Tensor:
            if has_two:
                return down(activation(gate(x)) * up(x))
            first, second = both(x).chunk(2, dim=-1)
            return down(activation(first) * second)

        if all(_runs_as(module, probe, x, formula, training) for training in (False, True)):
            return ("gated" if has_two else "gated-packed", name)
    return None


def _runs_as(module: nn.Module, probe: Any, x: Tensor, formula: Any, training: bool) -> bool:
    """In training too: a dropout would show."""
    if any(isinstance(child, nn.Dropout) and child.p for child in probe.__dict__["_modules"].values()):
        return False
    probe.__dict__["training"] = training
    return agrees(lambda: type(module).forward(probe, x), formula)


@makes("gated")
def _of_gated(base: Any, activation: str) -> Forward:
    own: Callable[..., Any] = base.forward
    gated = GATES[activation]
    formula = _ACTIVATIONS[activation]

    def forward(self: Any, *args: Any, **kwargs: Any) -> Any:
        if len(args) != 1 or kwargs:
            return own(self, *args, **kwargs)
        (x,) = args
        gate, up = self.gate_proj(x), self.up_proj(x)
        if takes(gate) and takes(up) and gate.dtype == up.dtype:
            return self.down_proj(gated(gate, up))
        return self.down_proj(formula(gate) * up)

    return forward


@makes("gated-packed")
def _of_gated_packed(base: Any, activation: str) -> Forward:
    own: Callable[..., Any] = base.forward
    gated = PACKED_GATES[activation]
    formula = _ACTIVATIONS[activation]

    def forward(self: Any, *args: Any, **kwargs: Any) -> Any:
        if len(args) != 1 or kwargs:
            return own(self, *args, **kwargs)
        both = self.gate_up_proj(args[0])
        if takes(both):
            return self.down_proj(gated(both))
        gate, up = both.chunk(2, dim=-1)
        return self.down_proj(formula(gate) * up)

    return forward
