"""The head of a causal model and its loss in one, for training: `patch(model, keep_logits=False)`.

A model of transformers makes all logits, and then their loss. The forward here asks the model inside for its
hidden states and gives them to `ops.linear_cross_entropy`, so that there never are logits: the result has
None in their place. Without labels, in evaluation and without gradients the model's own forward runs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from flashpath import ops
from flashpath.nn.calling import takes, without_autocast
from flashpath.nn.patching.losses import by_items, shifted
from flashpath.nn.patching.swapping import Forward, Kind, makes, original

_torch: Any = torch
_linear_cross_entropy = without_autocast(ops.linear_cross_entropy)
# Models whose ForCausalLM is: the model, its lm_head, a softcap of the logits perhaps, and the loss.
FAMILIES = ("llama", "mistral", "qwen2", "qwen3", "gemma", "gemma2", "gemma3")
KIND: Kind = ("causal-lm",)


def has_known_head(model: nn.Module) -> bool:
    """Whether the model's own forward does what the one here does."""
    base = original(model)
    family = base.__module__.removeprefix("transformers.models.").partition(".")[0]
    head = model.__dict__["_modules"].get("lm_head")
    return (
        family in FAMILIES
        and base.__name__.endswith("ForCausalLM")
        and "model" in model.__dict__["_modules"]
        and type(head) is nn.Linear
        and "forward" not in model.__dict__
    )


@makes("causal-lm")
def _of_causal_lm(base: Any) -> Forward:
    own: Callable[..., Any] = base.forward

    def forward(self: Any, *args: Any, **kwargs: Any) -> Any:
        labels, weight = kwargs.get("labels"), self.lm_head.weight
        is_training = self.training and torch.is_grad_enabled()
        is_known = len(args) < 2 and kwargs.get("return_dict", True) and not kwargs.get("logits_to_keep")
        if labels is None or not (is_training and is_known and takes(weight)):
            return own(self, *args, **kwargs)
        given = {key: value for key, value in kwargs.items() if key not in ("labels", "logits_to_keep")}
        outputs: Any = self.model(*args, **given)
        hidden = outputs.last_hidden_state
        ignored: int = kwargs.get("ignore_index", -100)
        target = shifted(labels, kwargs.get("shift_labels"), ignored).to(hidden.device)
        device = hidden.device.type
        is_cast = _torch.is_autocast_enabled(device)
        kind = _torch.get_autocast_dtype(device) if is_cast else weight.dtype
        bias = self.lm_head.bias
        items = kwargs.get("num_items_in_batch")
        loss = _linear_cross_entropy(
            hidden.flatten(0, -2).to(kind),
            weight.to(kind),
            target,
            None if bias is None else bias.to(kind),
            ignore_index=ignored,
            softcap=float(getattr(self.config, "final_logit_softcapping", None) or 0.0),
            reduction="mean" if items is None else "sum",
        )
        made: Any = sys.modules["transformers.modeling_outputs"]
        return made.CausalLMOutputWithPast(
            loss=by_items(loss, items),
            logits=None,
            past_key_values=outputs.past_key_values,
            hidden_states=outputs.hidden_states,
            attentions=outputs.attentions,
        )

    return forward
