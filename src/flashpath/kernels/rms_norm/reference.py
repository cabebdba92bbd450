"""RMS norm, the reference: the formulas in float64, forward and backward, rounded once."""

from __future__ import annotations

from typing import Any

from flashpath.kernels.common.norm.arguments import is_backward


def torch_forward(x: Any, weight: Any = None, eps: float = 1e-6, residual: Any = None) -> Any:
    """PyTorch's own, with nothing around it."""
    import torch  # here: listing the ladder shall not wait for it

    if residual is not None:
        total = x + residual
        return torch.nn.functional.rms_norm(total, x.shape[1:], weight, eps), total
    return torch.nn.functional.rms_norm(x, x.shape[1:], weight, eps)


def gradients(dy: Any, x: Any, weight: Any, rstd: Any, added: Any = None) -> tuple[Any, Any]:
    """dx and dweight by their formulas, in the type of rstd; None for dweight where there is no weight.

    `added` is added to dx.
    """
    d, scale = dy.to(rstd.dtype), rstd[:, None]
    normal = x.to(rstd.dtype) * scale
    g = d if weight is None else d * weight.to(rstd.dtype)
    dx = (g - normal * (g * normal).mean(1, keepdim=True)) * scale
    if added is not None:
        dx = dx + added.to(rstd.dtype)
    return dx.to(x.dtype), None if weight is None else (d * normal).sum(0).to(weight.dtype)


def forward_in_float64(x: Any, weight: Any = None, eps: float = 1e-6) -> Any:
    """The truth of the norm, not rounded."""
    return torch_forward(x.double(), weight if weight is None else weight.double(), eps)


def gradients_in_float64(dy: Any, x: Any, weight: Any, rstd: Any, added: Any = None) -> tuple[Any, Any]:
    """The truth of the gradients, not rounded."""
    weight, added = (None if each is None else each.double() for each in (weight, added))
    return gradients(dy.double(), x.double(), weight, rstd.double(), added)


def reference(*inputs: Any) -> Any:
    """(x, weight, eps) → out; with a residual after eps → (out, x + residual);
    (dy, x, weight, rstd) → (dx, dweight), with what is to be added to dx after rstd."""
    if is_backward(inputs):
        _, x, weight = inputs[:3]
        dx, dweight = gradients_in_float64(*inputs)
        return dx.to(x.dtype), None if weight is None else dweight.to(weight.dtype)
    x, *rest = inputs
    if len(rest) < 3 or rest[2] is None:
        return forward_in_float64(x, *rest[:2]).to(x.dtype)
    total = x + rest[2]
    return forward_in_float64(total, *rest[:2]).to(x.dtype), total
