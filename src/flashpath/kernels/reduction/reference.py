"""Reduction, the reference: PyTorch's own."""

from __future__ import annotations

from typing import Any

from flashpath.kernels.reduction.host import prepare


def reference(x: Any, op: str = "sum", dim: int | None = None, out: Any | None = None) -> Any:
    """One number from all elements, or from each row."""
    import torch  # here: listing the ladder shall not wait for it

    prepare(x, op, dim, out)
    if op == "max":
        answer = torch.max(x) if dim is None else torch.amax(x, dim)
    else:
        answer = {"sum": torch.sum, "mean": torch.mean, "argmax": torch.argmax}[op](x, dim)
    return answer if out is None else out.copy_(answer)
