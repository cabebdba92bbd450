"""Layer norm, the reference: the formulas in float64, forward and backward, rounded once."""

from __future__ import annotations

from typing import Any

from flashpath.kernels.common.norm.arguments import is_backward


def torch_forward(
    x: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5, residual: Any = None
) -> Any:
    """PyTorch's own, with nothing around it."""
    import torch  # here: listing the ladder shall not wait for it

    if residual is not None:
        total = x + residual
        return torch.nn.functional.layer_norm(total, x.shape[1:], weight, bias, eps), total
    return torch.nn.functional.layer_norm(x, x.shape[1:], weight, bias, eps)


def gradients(
    dy: Any, x: Any, weight: Any, mean: Any, rstd: Any, has_bias: bool = True, added: Any = None
) -> tuple[Any, Any, Any]:
    """dx, dweight and dbias by their formulas, in the type of rstd; None where there is no such input.

    `added` is added to dx.
    """
    d, center, scale = dy.to(rstd.dtype), mean[:, None], rstd[:, None]
    normal = (x.to(rstd.dtype) - center) * scale
    g = d if weight is None else d * weight.to(rstd.dtype)
    dx = (g - g.mean(1, keepdim=True) - normal * (g * normal).mean(1, keepdim=True)) * scale
    if added is not None:
        dx = dx + added.to(rstd.dtype)
    kind = x.dtype if weight is None else weight.dtype
    return (
        dx.to(x.dtype),
        None if weight is None else (d * normal).sum(0).to(kind),
        d.sum(0).to(kind) if has_bias else None,
    )


def forward_in_float64(x: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
    """The truth of the norm, not rounded."""
    weight, bias = (None if each is None else each.double() for each in (weight, bias))
    return torch_forward(x.double(), weight, bias, eps)


def gradients_in_float64(
    dy: Any, x: Any, weight: Any, mean: Any, rstd: Any, has_bias: bool = True, added: Any = None
) -> tuple[Any, Any, Any]:
    """The truth of the gradients, not rounded."""
    weight, added = (None if each is None else each.double() for each in (weight, added))
    return gradients(dy.double(), x.double(), weight, mean.double(), rstd.double(), has_bias, added)


def reference(*inputs: Any) -> Any:
    """(x, weight, bias, eps) → out; with a residual after eps → (out, x + residual);
    (dy, x, weight, mean, rstd, has_bias, added) → (dx, dweight, dbias), the last two optional."""
    if is_backward(inputs):
        _, x, weight = inputs[:3]
        kind = x.dtype if weight is None else weight.dtype
        exact = gradients_in_float64(*inputs)
        kinds = (x.dtype, kind, kind)
        return tuple(each if each is None else each.to(to) for each, to in zip(exact, kinds, strict=True))
    x, *rest = inputs
    if len(rest) < 4 or rest[3] is None:
        return forward_in_float64(x, *rest[:3]).to(x.dtype)
    total = x + rest[3]
    return forward_in_float64(total, *rest[:3]).to(x.dtype), total
