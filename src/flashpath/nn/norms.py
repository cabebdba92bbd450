"""RMSNorm and LayerNorm: torch's modules of that name, with `weight_offset` for weights stored less one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from flashpath import ops
from flashpath.errors import FlashpathError
from flashpath.nn.calling import without_autocast

Tensor = torch.Tensor
_rms_norm = without_autocast(ops.rms_norm)
_layer_norm = without_autocast(ops.layer_norm)


def _last_dimension(name: str, shape: Any) -> int:
    """Returns the length of the one dimension that kernels normalise over."""
    if isinstance(shape, int):
        return shape
    lengths = list(shape)
    if len(lengths) != 1:
        raise FlashpathError("nn.norm-shape", name=name, shape=str(tuple(lengths)))
    return int(lengths[0])


class RMSNorm(torch.nn.RMSNorm):
    """`ops.rms_norm` with the parameters of `torch.nn.RMSNorm`.

    With `weight_offset=1.0` the factor is 1 + weight, as Gemma's, and the weight starts at 0. eps None is
    torch's default, the epsilon of the input's type.
    """

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: Any = None,
        dtype: torch.dtype | None = None,
        *,
        weight_offset: float = 0.0,
    ) -> None:
        length = _last_dimension("RMSNorm", normalized_shape)
        self.weight_offset = weight_offset  # before torch's constructor, which calls reset_parameters
        super().__init__(length, eps, elementwise_affine, device, dtype)  # pyright: ignore[reportUnknownMemberType]

    def reset_parameters(self) -> None:
        if self.elementwise_affine:
            torch.nn.init.constant_(self.weight, 1.0 - self.weight_offset)

    def forward(self, x: Tensor) -> Tensor:
        """x: (…, n), float32, float16 or bfloat16."""
        eps = torch.finfo(x.dtype).eps if self.eps is None else self.eps
        return _rms_norm(x, self.weight, eps, self.weight_offset)

    def extra_repr(self) -> str:
        more = f", weight_offset={self.weight_offset}" if self.weight_offset else ""
        return super().extra_repr() + more


class LayerNorm(torch.nn.LayerNorm):
    """`ops.layer_norm` with the parameters of `torch.nn.LayerNorm`; `weight_offset` as in `RMSNorm`."""

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Any = None,
        dtype: torch.dtype | None = None,
        *,
        weight_offset: float = 0.0,
    ) -> None:
        length = _last_dimension("LayerNorm", normalized_shape)
        self.weight_offset = weight_offset
        super().__init__(length, eps, elementwise_affine, bias, device, dtype)  # pyright: ignore[reportUnknownMemberType]

    def reset_parameters(self) -> None:
        if self.elementwise_affine:
            torch.nn.init.constant_(self.weight, 1.0 - self.weight_offset)
            bias: Tensor | None = self.bias  # pyright: ignore[reportUnnecessaryComparison]
            if bias is not None:
                torch.nn.init.zeros_(bias)

    def forward(self, input: Tensor) -> Tensor:  # noqa: A002 - torch's own name
        """input: (…, n), float32, float16 or bfloat16."""
        return _layer_norm(input, self.weight, self.bias, self.eps, self.weight_offset)

    def extra_repr(self) -> str:
        more = f", weight_offset={self.weight_offset}" if self.weight_offset else ""
        return super().extra_repr() + more
