"""`patch(model)`: what flashpath knows in a model is computed by its operators from then on.

Modules change their class (swapping.py), and only after a probe has shown that their forward computes what
the operator does (probing.py). Attention and loss of transformers' models are changed where transformers lets
users choose them. What `unpatch` needs stands in the classes, and for the model as a whole in its
`__dict__`, so that copies and pickles of a patched model can be restored too.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from typing import Any

import torch
from torch import nn

from flashpath.errors import FlashpathError
from flashpath.messages import Message, told
from flashpath.nn import interface
from flashpath.nn.calling import DEVICES
from flashpath.nn.patching import heads
from flashpath.nn.patching.losses import causal_lm_loss, is_plain_loss
from flashpath.nn.patching.mlps import is_gated, mlp_kind
from flashpath.nn.patching.norms import norm_kind
from flashpath.nn.patching.report import Kept, PatchReport, Replaced
from flashpath.nn.patching.rotary import calls_rotary, rotary_kind
from flashpath.nn.patching.swapping import Kind, kind_of, original, swap, swap_back

__all__ = ["Kept", "PatchReport", "Replaced", "patch", "unpatch"]

_STATE = "_flashpath_patched"
_lock = threading.RLock()
_OPERATORS = {
    "torch-layer-norm": "layer_norm",
    "torch-rms-norm": "rms_norm",
    "layer-norm": "layer_norm",
    "rms-norm": "rms_norm",
    "rotary": "rope",
    "cross-entropy": "cross_entropy",
}
_GATES = {"silu": "swiglu", "gelu": "geglu", "gelu_tanh": "geglu_tanh"}
_PACKED_GATES = {"silu": "silu_and_mul", "gelu": "gelu_and_mul", "gelu_tanh": "gelu_tanh_and_mul"}


def patch(model: nn.Module, *, keep_logits: bool = True) -> PatchReport:
    """Lets flashpath compute what it knows in a model, and reports on every part that it looked at.

    Norms, gated MLPs, rotary embedding and torch's CrossEntropyLoss in any model; attention and the loss of
    transformers' models. With `keep_logits=False` the head and the loss of a causal model are one in
    training: its result has no logits then, and their memory is never needed. Parameters, state_dict and
    names stay as they are. A second call changes nothing, and `unpatch` gives everything back. docs/nn.md
    says what is known, and what stays torch's in a call.
    """
    if not isinstance(model, nn.Module) or isinstance(model, torch.jit.ScriptModule):
        raise FlashpathError("nn.no-module", model=f"{model!r:.80}")
    replaced, kept = list[Replaced](), list[Kept]()
    with _lock:
        for name, module in _named(model):
            was = original(module).__name__
            looked_at = None if kind_of(module) == heads.KIND else _look(module)
            if looked_at is None:
                continue
            if isinstance(looked_at, Message):
                kept.append(Kept(name, was, looked_at))
                continue
            swap(module, looked_at)
            replaced.append(Replaced(name, was, _operator(looked_at)))
        for name, module in _of_transformers(model):
            _change_attention(name, module, replaced, kept)
            _change_loss(name, module, replaced)
            if not keep_logits:
                _change_head(name, module, replaced, kept)
            elif kind_of(module) == heads.KIND:
                swap_back(module)
    return PatchReport(tuple(replaced), tuple(kept), tuple(_notes(model)) if replaced else ())


def unpatch(model: nn.Module) -> None:
    """Gives every module of the model the class, attention and loss that it had before `patch`."""
    if not isinstance(model, nn.Module):
        raise FlashpathError("nn.no-module", model=f"{model!r:.80}")
    with _lock:
        for module in model.modules():
            swap_back(module)
            state = module.__dict__.pop(_STATE, None)
            if state is None:
                continue
            given: Any = module
            if "attention" in state and given.config._attn_implementation == interface.NAME:
                given.set_attn_implementation(state["attention"])
            if "loss" in state and module.__dict__.get("_loss_function") is causal_lm_loss:
                del module.__dict__["_loss_function"]


def _named(model: nn.Module) -> list[tuple[str, nn.Module]]:
    given: Any = model
    return list(given.named_modules())


def _operator(kind: Kind) -> str:
    name = kind[0]
    if name == "gated":
        return f"ops.{_GATES[kind[1]]}"
    if name == "gated-packed":
        return f"ops.{_PACKED_GATES[kind[1]]}"
    more = ", weight_offset=1" if name in ("rms-norm", "layer-norm") and kind[2] else ""
    return f"ops.{_OPERATORS[name]}{more}"


# ---- Modules ---------------------------------------------------------------------------------------------


def _look(module: nn.Module) -> Kind | Message | None:
    """What to make of a module, or why it stays; None for one that flashpath has nothing for."""
    known = kind_of(module)
    if known is not None:
        return known
    name = type(module).__name__.lower()
    is_loss = isinstance(module, nn.CrossEntropyLoss)
    is_norm = "norm" in name and not module.__dict__["_modules"]
    if type(module).__module__.startswith("flashpath."):
        return None
    if not (is_loss or is_norm or is_gated(module) or calls_rotary(module) or "attention" in name):
        return None
    obstacle = _obstacle(module)
    if obstacle is not None:
        return obstacle
    if is_loss:
        return ("cross-entropy",) if is_plain_loss(module) else told("nn.kept-loss")
    if is_norm:
        return norm_kind(module) or told("nn.kept-norm")
    if is_gated(module):
        return mlp_kind(module) or told("nn.kept-mlp")
    if calls_rotary(module):
        return rotary_kind(module) or told("nn.kept-rotary")
    if isinstance(module, nn.MultiheadAttention):
        return told("nn.kept-multihead")
    return None


def _obstacle(module: nn.Module) -> Message | None:
    """What keeps any module from being changed."""
    if "forward" in module.__dict__:
        return told("nn.kept-forward")
    if isinstance(module, torch.jit.ScriptModule):
        return told("nn.kept-script")
    devices = {x.device.type for x in module.parameters(recurse=False)}
    if devices - set(DEVICES):
        return told("nn.kept-device", device=", ".join(sorted(devices - set(DEVICES))))
    return None


def _notes(model: nn.Module) -> Iterator[Message]:
    first = next(model.parameters(), None)
    if first is None:
        return
    if first.device.type == "cpu":
        yield told("nn.note-cpu")
    if first.dtype == torch.float32 and next(iter(_of_transformers(model)), None) is not None:
        yield told("nn.note-float32")


# ---- transformers' models --------------------------------------------------------------------------------


def _of_transformers(model: nn.Module) -> list[tuple[str, Any]]:
    """The outermost models of transformers in a model; none where nobody has imported it."""
    modeling: Any = sys.modules.get("transformers.modeling_utils")
    if modeling is None:
        return []
    found: list[tuple[str, Any]] = []
    for name, module in _named(model):
        inside = any(not outer or name.startswith(f"{outer}.") for outer, _ in found)
        if isinstance(module, modeling.PreTrainedModel) and not inside:
            found.append((name, module))
    return found


def _change_attention(name: str, model: Any, replaced: list[Replaced], kept: list[Kept]) -> None:
    was = f"{original(model).__name__}, attn_implementation"
    state = model.__dict__.get(_STATE, {})
    current = model.config._attn_implementation
    if current == interface.NAME:
        replaced.append(Replaced(name, was, "ops.attention"))
        return
    try:
        interface.register_with_transformers()
    except FlashpathError as error:
        kept.append(Kept(name, was, error.said))
        return
    only: Any = getattr(model, "_compatible_flash_implementations", None)  # then transformers takes no other
    if only is not None or not (model._supports_flash_attn and model._can_set_attn_implementation()):
        kept.append(Kept(name, was, told("nn.kept-attention", implementation=str(current))))
        return
    before = _implementations(model)
    try:
        model.set_attn_implementation(interface.NAME)
    except Exception:  # whatever transformers, or a model's own check, has against it
        model.config._attn_implementation_internal = current
    if model.config._attn_implementation != interface.NAME:
        kept.append(Kept(name, was, told("nn.kept-attention", implementation=str(current))))
        return
    model.__dict__[_STATE] = {"attention": before, **state}
    replaced.append(Replaced(name, f"{was}={current!r}", "ops.attention"))


def _implementations(model: Any) -> Any:
    """What set_attn_implementation takes to bring a model, and its parts, back."""
    of_parts = {
        key: part._attn_implementation
        for key in model.config.sub_configs
        if (part := getattr(model.config, key, None)) is not None
    }
    own = model.config._attn_implementation
    return {"": own, **of_parts} if of_parts else own


def _change_loss(name: str, model: Any, replaced: list[Replaced]) -> None:
    losses: Any = sys.modules.get("transformers.loss.loss_utils")
    own: Any = getattr(losses, "ForCausalLMLoss", None)
    if model.__dict__.get("_loss_function") is causal_lm_loss:
        replaced.append(Replaced(name, "ForCausalLMLoss", "ops.cross_entropy"))
    elif (
        own is not None
        and getattr(model, "loss_type", None) == "ForCausalLM"
        and "_loss_function" not in model.__dict__
        and model.loss_function is own
    ):
        model.__dict__["_loss_function"] = causal_lm_loss
        model.__dict__[_STATE] = {"loss": True, **model.__dict__.get(_STATE, {})}
        replaced.append(Replaced(name, "ForCausalLMLoss", "ops.cross_entropy"))


def _change_head(name: str, model: Any, replaced: list[Replaced], kept: list[Kept]) -> None:
    was = f"{original(model).__name__}.lm_head"
    if not heads.has_known_head(model) or model.__dict__.get("_loss_function") is not causal_lm_loss:
        kept.append(Kept(name, was, told("nn.kept-head")))
        return
    swap(model, heads.KIND)
    replaced.append(Replaced(name, was, "ops.linear_cross_entropy"))
