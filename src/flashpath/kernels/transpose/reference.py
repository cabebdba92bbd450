"""Copy and transpose, the reference: PyTorch's own."""

from __future__ import annotations

from typing import Any

from flashpath.kernels.transpose.host import prepare


def torch_movement(x: Any, operation: str = "transpose") -> Any:
    """PyTorch's copy or transposed copy, with nothing around it."""
    return x.clone() if operation == "copy" else x.t().contiguous()


def reference(x: Any, operation: str = "transpose", out: Any | None = None) -> Any:
    """out[c, r] = x[r, c], or out = x"""
    result = prepare(x, operation, out)
    return result.copy_(x if operation == "copy" else x.t())
