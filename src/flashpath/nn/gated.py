"""The gated MLP, `down(activation(gate(x)) * up(x))`, by the names that checkpoints have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import torch

from flashpath import ops
from flashpath.errors import FlashpathError
from flashpath.nn.calling import without_autocast

Tensor = torch.Tensor
Gate = Literal["silu", "gelu", "gelu_tanh"]

GATES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "silu": without_autocast(ops.swiglu),
    "gelu": without_autocast(ops.geglu),
    "gelu_tanh": without_autocast(ops.geglu_tanh),
}
PACKED_GATES: dict[str, Callable[[Tensor], Tensor]] = {
    "silu": without_autocast(ops.silu_and_mul),
    "gelu": without_autocast(ops.gelu_and_mul),
    "gelu_tanh": without_autocast(ops.gelu_tanh_and_mul),
}


class GatedMLP(torch.nn.Module):
    """`down_proj(activation(gate_proj(x)) * up_proj(x))`: the MLP of Llama, Qwen, Mistral and Gemma.

    Products are torch's; activation and multiplication are one kernel, forward and backward.
    """

    def __init__(
        self,
        hidden_size: int,
        intermediate_size: int,
        activation: Gate = "silu",
        bias: bool = False,
        device: Any = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        if activation not in GATES:
            raise FlashpathError("nn.activation", activation=f"{activation!r:.80}", known=list(GATES))
        given: dict[str, Any] = {"bias": bias, "device": device, "dtype": dtype}
        self.activation = activation
        self.gate_proj = torch.nn.Linear(hidden_size, intermediate_size, **given)
        self.up_proj = torch.nn.Linear(hidden_size, intermediate_size, **given)
        self.down_proj = torch.nn.Linear(intermediate_size, hidden_size, **given)

    def forward(self, x: Tensor) -> Tensor:
        return self.down_proj(GATES[self.activation](self.gate_proj(x), self.up_proj(x)))

    def extra_repr(self) -> str:
        return f"activation={self.activation!r}"


class SwiGLU(GatedMLP):
    """A `GatedMLP` with silu."""

    def __init__(
        self,
        hidden_size: int,
        intermediate_size: int,
        bias: bool = False,
        device: Any = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(hidden_size, intermediate_size, "silu", bias, device, dtype)


class GeGLU(GatedMLP):
    """A `GatedMLP` with gelu, or with its tanh approximation, which Gemma has."""

    def __init__(
        self,
        hidden_size: int,
        intermediate_size: int,
        bias: bool = False,
        device: Any = None,
        dtype: torch.dtype | None = None,
        *,
        approximate: Literal["none", "tanh"] = "tanh",
    ) -> None:
        activation: Gate = "gelu_tanh" if approximate == "tanh" else "gelu"
        super().__init__(hidden_size, intermediate_size, activation, bias, device, dtype)
