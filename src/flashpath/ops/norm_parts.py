"""What the operators of norms share: checks of arguments, and gradients that torch differentiates."""

from typing import Any

import torch

from flashpath.ops.checking import number, refuse, require_tensors

Tensor = torch.Tensor


def dense(x: Tensor | None) -> Tensor | None:
    """Returns the tensor, copied where it is not contiguous."""
    return None if x is None else x.contiguous()


def like(x: Tensor) -> Tensor:
    """Returns an empty, contiguous tensor of x's shape and type."""
    return torch.empty_like(x, memory_format=torch.contiguous_format)


def require_norm(name: str, x: Tensor, eps: Any, vectors: dict[str, Tensor | None], **more: Tensor) -> float:
    """Returns eps, a number."""
    given = {key: each for key, each in vectors.items() if each is not None}
    require_tensors(name, x=x, **more, **given)
    eps = number(name, "eps", eps)
    if not x.dim():
        refuse("ops.norm-scalar", name=name)
    return eps


def require_residual(name: str, x: Tensor, residual: Tensor) -> None:
    """Refuses a residual of another shape: nothing is broadcast."""
    if x.shape != residual.shape:
        refuse("ops.residual", name=name, shape=str(tuple(residual.shape)), shape2=str(tuple(x.shape)))


def rms_norm_gradients(
    dy: Tensor, x: Tensor, weight: Tensor | None, eps: float, offset: float = 0.0
) -> tuple[Tensor, Tensor | None]:
    """Returns gradients of `x / sqrt(mean(x²) + eps) * (offset + weight)`; dx in float32."""
    rstd = torch.rsqrt(x.square().mean(-1, keepdim=True) + eps)
    normal, wide = x * rstd, dy.float()
    inner = wide if weight is None else wide * (weight.float() + offset)
    dx = rstd * (inner - normal * (inner * normal).mean(-1, keepdim=True))
    return dx, None if weight is None else (wide * normal).sum(0).to(weight.dtype)


def layer_norm_gradients(
    dy: Tensor, x: Tensor, weight: Tensor | None, eps: float, has_bias: bool
) -> tuple[Tensor, Tensor | None, Tensor | None]:
    """Returns the gradients of layer_norm; dx in float32."""
    centered = x.float() - x.float().mean(-1, keepdim=True)
    dx, dweight = rms_norm_gradients(dy, centered, weight, eps)
    # Both gradients of vectors are of the weight's type, as the kernel has them.
    dbias = dy.float().sum(0).to(x.dtype if weight is None else weight.dtype) if has_bias else None
    return dx - dx.mean(-1, keepdim=True), dweight, dbias
