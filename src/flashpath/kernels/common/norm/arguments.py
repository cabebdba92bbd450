"""The arguments of norms: those of a forward pass, or those of a backward pass."""

from __future__ import annotations

from typing import Any


def is_backward(inputs: tuple[Any, ...]) -> bool:
    """Whether these are arguments of a backward pass, (dy, x, …): of a forward pass, (x, weight, …)."""
    return inputs[1] is not None and inputs[1].dim() == 2
