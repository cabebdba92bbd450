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
    target = shifted(labels, shift_labels, ignore_index).to(logits.device)
    rows = logits.reshape(-1, vocab_size)
    reduction = "mean" if num_items_in_batch is None else "sum"
    if takes(rows):
        loss = _cross_entropy(rows, target, ignore_index=ignore_index, reduction=reduction)
    else:
        loss = nn.functional.cross_entropy(
            rows.float(), target, ignore_index=ignore_index, reduction=reduction
        )
    return by_items(loss, num_items_in_batch)


def shifted(labels: Tensor, shift_labels: Tensor | None, ignore_index: int) -> Tensor:
    """The targets of all positions, each the label of the next one."""
    if shift_labels is None:
        shift_labels = nn.functional.pad(labels[..., 1:], (0, 1), value=ignore_index)
    return shift_labels.reshape(-1)


def by_items(loss: Any, count: Any) -> Any:
    """A sum over the items that the caller counted, on all of its devices perhaps; or the mean that it is."""
    if count is None:
        return loss
    return loss / (count.to(loss.device) if isinstance(count, Tensor) else count)


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
            loss: Any = _cross_entropy(
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
