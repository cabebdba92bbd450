"""Softmax, the reference: PyTorch's own, and its gradient."""

from __future__ import annotations

from typing import Any

from flashpath.kernels.softmax.host import WITH_DOUBLE, prepare, prepare_backward


def torch_softmax(x: Any, dy: Any | None = None) -> Any:
    """PyTorch's softmax over the last dimension; with dy the gradient, where x is the softmax's result."""
    import torch  # here: listing the ladder shall not wait for it

    if dy is None:
        return torch.softmax(x, -1)
    return torch.ops.aten._softmax_backward_data(dy, x, -1, x.dtype)


def formula(x: Any, dy: Any | None = None) -> Any:
    """The same as torch_softmax, the gradient written out: what torch.compile can fuse."""
    import torch

    return torch.softmax(x, -1) if dy is None else x * (dy - (x * dy).sum(-1, keepdim=True))


def reference(x: Any, dy: Any | None = None, *, out: Any | None = None) -> Any:
    """softmax(x) over the last dimension; of two tensors, y and dy, the gradient dx."""
    if dy is None:
        prepare(x, out, WITH_DOUBLE)
    else:
        prepare_backward(x, dy, out)
    result = torch_softmax(x, dy)
    return result if out is None else out.copy_(result)
