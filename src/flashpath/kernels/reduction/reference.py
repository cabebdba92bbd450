"""Reduction, the reference: PyTorch's own."""

from __future__ import annotations

from typing import Any

from flashpath.kernels.reduction.host import prepare


def torch_reduction(x: Any, op: str = "sum", dim: int | None = None) -> Any:
    """PyTorch's reduction by its name, with nothing around it."""
    import torch  # here: listing the ladder shall not wait for it

    if op in ("max", "min"):
        return getattr(torch, op)(x) if dim is None else getattr(torch, f"a{op}")(x, dim)
    return {"sum": torch.sum, "mean": torch.mean, "argmax": torch.argmax}[op](x, dim)


def reference(x: Any, op: str = "sum", dim: int | None = None, out: Any | None = None) -> Any:
    """One number from all elements, or from each row."""
    prepare(x, op, dim, out)
    result = torch_reduction(x, op, dim)
    return result if out is None else out.copy_(result)
