"""Vector addition, the reference: PyTorch's own, which rounds once, as every rung does: equal to the bit."""

from __future__ import annotations

from typing import Any

from flashpath.kernels.vector_add.host import prepare


def reference(a: Any, b: Any, out: Any | None = None) -> Any:
    """c[i] = a[i] + b[i]"""
    import torch  # here: listing the ladder shall not wait for it

    return torch.add(a, b, out=prepare(a, b, out))
