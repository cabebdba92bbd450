"""Norms: those of torch, and classes of models that the probe finds to be an RMS or a layer norm."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from flashpath import ops
from flashpath.nn.calling import is_autocast, takes, without_autocast
from flashpath.nn.patching.probing import agrees, numbers, twin
from flashpath.nn.patching.swapping import Forward, Kind, makes

Tensor = torch.Tensor
_rms_norm = without_autocast(ops.rms_norm)
_layer_norm = without_autocast(ops.layer_norm)
_EPS_NAMES = ("variance_epsilon", "eps", "epsilon", "layer_norm_eps", "norm_eps", "rms_norm_eps")
_EPS_NUMBERS = (1e-6, 1e-5, 1e-12, 1e-8)
_OFFSETS = (0.0, 1.0)
_TORCHS = (nn.LayerNorm.forward, nn.RMSNorm.forward)
LONGEST = 2**16


def norm_kind(module: nn.Module) -> Kind | None:
    """What a norm computes; None for a module that is none, or none that kernels have."""
    forward = type(module).forward
    if forward in _TORCHS:
        given: Any = module
        name = "torch-layer-norm" if forward is nn.LayerNorm.forward else "torch-rms-norm"
        return (name,) if len(given.normalized_shape) == 1 else None
    weights = {key: x for key, x in module.__dict__["_parameters"].items() if x is not None}
    if module.__dict__["_modules"] or set(weights) - {"bias"} != {"weight"}:
        return None
    lengths = {tuple(x.shape) for x in weights.values()}
    if len(lengths) != 1 or len(shape := lengths.pop()) != 1 or not 0 < shape[0] <= LONGEST:
        return None
    return _probed(module, shape[0], "bias" in weights)


def _probed(module: nn.Module, n: int, has_bias: bool) -> Kind | None:
    parameters = {"weight": numbers(n)} | ({"bias": numbers(n, seed=1)} if has_bias else {})
    probe = twin(module, parameters, {})
    # Rows in which epsilon counts, too.
    x = numbers(4, n, seed=2) * torch.tensor([1.0, 30.0, 1e-3, 1e-6])[:, None] + 0.1
    x[2:] -= 0.1
    for eps in (
        *[name for name in _EPS_NAMES if isinstance(module.__dict__.get(name), float)],
        *_EPS_NUMBERS,
    ):
        value = module.__dict__[eps] if isinstance(eps, str) else eps
        for offset in _OFFSETS:
            weight = parameters["weight"] + offset

            def layer_norm(value: float = value, weight: Tensor = weight) -> Tensor:
                return nn.functional.layer_norm(x, (n,), weight, parameters.get("bias"), value)

            def rms_norm(value: float = value, weight: Tensor = weight) -> Tensor:
                return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + value) * weight

            def forward() -> Any:
                return type(module).forward(probe, x.clone())

            for name, formula in (("rms-norm", rms_norm), ("layer-norm", layer_norm)):
                if not (has_bias and name == "rms-norm") and agrees(forward, formula):
                    return (name, eps, offset, _keeps_type(module, probe, x))
    return None


def _keeps_type(module: nn.Module, probe: Any, x: Tensor) -> bool:
    """Whether the result has the input's type beside a float32 weight too, as Gemma's."""
    try:
        with torch.no_grad():
            return type(module).forward(probe, x.bfloat16()).dtype == torch.bfloat16
    except Exception:  # it does not take them
        return False


def _value(module: Any, eps: str | float) -> float:
    return getattr(module, eps) if isinstance(eps, str) else eps


def _answers(x: Tensor, weight: Tensor | None, keeps_type: bool) -> bool:
    """Whether the operator's result has the type that the module's own would have."""
    if weight is None or weight.dtype == x.dtype or x.dtype == torch.float32:
        return True
    return keeps_type and weight.dtype == torch.float32


@makes("rms-norm")
def _of_rms_norm(base: Any, eps: str | float, offset: float, keeps_type: bool) -> Forward:
    own: Callable[..., Any] = base.forward

    def forward(self: Any, *args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and not kwargs:
            (x,), weight = args, self.weight
            if takes(x) and takes(weight) and _answers(x, weight, keeps_type):
                return _rms_norm(x, weight, _value(self, eps), offset)
        return own(self, *args, **kwargs)

    return forward


@makes("layer-norm")
def _of_layer_norm(base: Any, eps: str | float, offset: float, keeps_type: bool) -> Forward:
    own: Callable[..., Any] = base.forward

    def forward(self: Any, *args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and not kwargs:
            (x,), weight = args, self.weight
            # torch's layer_norm, which such a module may call, is float32 under autocast
            if takes(x) and takes(weight) and _answers(x, weight, keeps_type) and not is_autocast(x):
                bias = getattr(self, "bias", None)
                return _layer_norm(x, weight, bias, _value(self, eps), offset)
        return own(self, *args, **kwargs)

    return forward


def _is_of_one_type(x: Tensor, *weights: Tensor | None) -> bool:
    return all(weight is None or (takes(weight) and weight.dtype == x.dtype) for weight in weights)


@makes("torch-layer-norm")
def _of_torch_layer_norm(base: Any) -> Forward:
    own: Callable[..., Any] = base.forward

    def forward(self: Any, input: Tensor) -> Any:  # noqa: A002 - torch's own name
        if takes(input) and _is_of_one_type(input, self.weight, self.bias) and not is_autocast(input):
            return _layer_norm(input, self.weight, self.bias, self.eps)
        return own(self, input)

    return forward


@makes("torch-rms-norm")
def _of_torch_rms_norm(base: Any) -> Forward:
    own: Callable[..., Any] = base.forward

    def forward(self: Any, x: Tensor) -> Any:
        if takes(x) and _is_of_one_type(x, self.weight) and not is_autocast(x):
            eps = torch.finfo(x.dtype).eps if self.eps is None else self.eps
            return _rms_norm(x, self.weight, eps)
        return own(self, x)

    return forward
