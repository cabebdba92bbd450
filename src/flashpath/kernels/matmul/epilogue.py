"""What may follow a product before it is stored, fused into it or in passes of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from flashpath.errors import FlashpathError
from flashpath.kernels.arguments import require_like

# Activations, and how kernels spell them.
ACTIVATIONS = {"none": "Identity", "relu": "Relu", "gelu": "Gelu", "silu": "Silu"}


@dataclass(frozen=True)
class Epilogue:
    """`where(mask, activation(scale · product + bias) + residual, 0)`; gelu is the exact one, with erf.

    `bias` has one number for each column, in the type of the product, and `residual` one for each element;
    `mask` has one bool for each element.
    """

    scale: float = 1.0
    bias: Any | None = None  # (n)
    activation: str = "none"
    mask: Any | None = None  # (m, n)
    residual: Any | None = None  # (m, n)

    def check(self, out: Any) -> None:
        """Raise unless this epilogue goes with that output."""
        import torch

        if self.activation not in ACTIVATIONS:
            raise FlashpathError(
                "kernels.epilogue-activation",
                activation=f"{self.activation!r}",
                activations=list(ACTIVATIONS),
            )
        if self.bias is not None:
            require_like("An epilogue", "bias", self.bias, out.shape[1:], out.dtype, out.device)
        if self.mask is not None:
            require_like("An epilogue", "mask", self.mask, out.shape, torch.bool, out.device)
        if self.residual is not None:
            require_like("An epilogue", "residual", self.residual, out.shape, out.dtype, out.device)

    def __call__(self, product: Any) -> Any:
        """The same with torch, step by step, in the type of the product."""
        import torch

        result = product
        if self.scale != 1.0:
            result = result * self.scale
        if self.bias is not None:
            result = result + self.bias.to(product.dtype)
        if self.activation != "none":
            result = getattr(torch.nn.functional, self.activation)(result)
        if self.residual is not None:
            result = result + self.residual.to(product.dtype)
        if self.mask is not None:
            result = torch.where(self.mask, result, 0.0)
        return result
