"""Losses: that of transformers' causal models, and torch's CrossEntropyLoss."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from flashpath import ops
from flashpath.nn.calling import is_autocast, takes, without_autocast
from flashpath.nn.patching.swapping import Forward, makes

Tensor = torch.Tensor
_cross_entropy = without_autocast(ops.cross_entropy)


def causal_lm_loss(
    logits: Tensor,
    labels: Tensor,
    vocab_size: int,
    num_items_in_batch: Any = None,
    ignore_index: int = -100,
    shift_labels: Tensor | None = None,
    **kwargs: Any,
) -> Tensor:
    """transformers' `ForCausalLMLoss`, without a copy of the logits in float32."""
    del kwargs  # as transformers' own
    if shift_labels is None:
        shift_labels = nn.functional.pad(labels[..., 1:], (0, 1), value=ignore_index)
    target = shift_labels.reshape(-1).to(logits.device)
    rows = logits.reshape(-1, vocab_size)
    if not takes(rows):
        return _by_torch(rows.float(), target, ignore_index, num_items_in_batch)
    reduction = "mean" if num_items_in_batch is None else "sum"
    loss = _cross_entropy(rows, target, ignore_index=ignore_index, reduction=reduction)
    return loss if num_items_in_batch is None else loss / _items(num_items_in_batch, loss)


def _items(count: Any, loss: Tensor) -> Any:
    return count.to(loss.device) if isinstance(count, Tensor) else count


def _by_torch(rows: Tensor, target: Tensor, ignore_index: int, count: Any) -> Tensor:
    reduction = "mean" if count is None else "sum"
    loss = nn.functional.cross_entropy(rows, target, ignore_index=ignore_index, reduction=reduction)
    return loss if count is None else loss / _items(count, loss)


def is_plain_loss(module: nn.Module) -> bool:
    """Whether torch's loss has no smoothing by class weights, which is torch's alone."""
    given: Any = module
    return type(module).forward is nn.CrossEntropyLoss.forward and not (
        given.weight is not None and given.label_smoothing
    )


@makes("cross-entropy")
def _of_cross_entropy(base: Any) -> Forward:
    own: Callable[..., Any] = base.forward

    def forward(self: Any, input: Tensor, target: Tensor) -> Any:  # noqa: A002 - torch's own name
        if (
            takes(input)
            and input.dim() == 2
            and target.dtype == torch.int64
            and not is_autocast(input)
            and not (self.weight is not None and self.label_smoothing)
        ):
            loss = _cross_entropy(
                input,
                target,
                ignore_index=self.ignore_index,
                label_smoothing=self.label_smoothing,
                reduction=self.reduction,
                **({} if self.weight is None else {"weight": self.weight}),
            )
            return loss.to(input.dtype)
        return own(self, input, target)

    return forward
