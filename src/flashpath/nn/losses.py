"""CrossEntropyLoss and LinearCrossEntropy: the losses of language models."""

from __future__ import annotations

from typing import Any

import torch

from flashpath import ops
from flashpath.nn.calling import without_autocast
from flashpath.ops.losses import Reduction

Tensor = torch.Tensor
_cross_entropy = without_autocast(ops.cross_entropy)
_linear_cross_entropy = without_autocast(ops.linear_cross_entropy)


class _Options(torch.nn.Module):
    """What both losses are asked for."""

    def __init__(
        self,
        ignore_index: int = -100,
        label_smoothing: float = 0.0,
        z_loss: float = 0.0,
        softcap: float = 0.0,
        reduction: Reduction = "mean",
    ) -> None:
        super().__init__()
        self.ignore_index, self.label_smoothing, self.z_loss = ignore_index, label_smoothing, z_loss
        self.softcap = softcap
        self.reduction: Reduction = reduction

    @property
    def options(self) -> dict[str, Any]:
        return {
            "ignore_index": self.ignore_index,
            "label_smoothing": self.label_smoothing,
            "z_loss": self.z_loss,
            "softcap": self.softcap,
            "reduction": self.reduction,
        }

    def extra_repr(self) -> str:
        return ", ".join(f"{key}={value!r}" for key, value in self.options.items())


class CrossEntropyLoss(_Options):
    """`ops.cross_entropy` of logits (…, classes) and targets (…): the classes come last."""

    def forward(self, logits: Tensor, target: Tensor) -> Tensor:
        return _cross_entropy(logits, target, **self.options)


class LinearCrossEntropy(_Options):
    """The last product of a model and its loss, without ever having all logits.

    Its parameters are those of `torch.nn.Linear(hidden_size, classes, bias)`, such as a model's lm_head; to
    tie the weight to an embedding, assign it. `shift=True` lets each position predict the next one's target.
    """

    bias: Tensor | None

    def __init__(
        self,
        hidden_size: int,
        classes: int,
        bias: bool = False,
        *,
        ignore_index: int = -100,
        label_smoothing: float = 0.0,
        z_loss: float = 0.0,
        softcap: float = 0.0,
        reduction: Reduction = "mean",
        shift: bool = False,
        device: Any = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(ignore_index, label_smoothing, z_loss, softcap, reduction)
        as_torch_does = torch.nn.Linear(hidden_size, classes, bias, device, dtype)
        self.weight = as_torch_does.weight
        self.register_parameter("bias", as_torch_does.bias)
        self.shift = shift

    def forward(self, x: Tensor, target: Tensor) -> Tensor:
        """x: (…, hidden), of the weight's type; target: (…), int64."""
        if torch.is_autocast_enabled(x.device.type) or x.dtype != self.weight.dtype:
            kind = _product_type(x, self.weight)
            bias = None if self.bias is None else self.bias.to(kind)
            x, weight = x.to(kind), self.weight.to(kind)
        else:
            weight, bias = self.weight, self.bias
        if self.shift:
            target = torch.nn.functional.pad(target[..., 1:], (0, 1), value=self.ignore_index)
        return _linear_cross_entropy(x, weight, target, bias, **self.options)

    def logits(self, x: Tensor) -> Tensor:
        """The logits themselves, for who samples."""
        return torch.nn.functional.linear(x, self.weight, self.bias)


def _product_type(x: Tensor, weight: Tensor) -> torch.dtype:
    """The type that torch's linear would compute in: autocast's, else the weight's."""
    device = x.device.type
    return torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else weight.dtype
