"""Sort, the reference: PyTorch's own stable sort. NaNs come last, and -0 and +0 are equal."""

from __future__ import annotations

from typing import Any

from flashpath.kernels.sort.host import prepare


def torch_sort(x: Any, return_indices: bool = False) -> Any:
    """PyTorch's sort, with nothing around it."""
    import torch  # here: listing the ladder shall not wait for it

    values, indices = torch.sort(x, stable=True)
    return (values, indices) if return_indices else values


def reference(x: Any, return_indices: bool = False, out: Any | None = None) -> Any:
    """The keys in rising order, and where each came from where that is asked for."""
    prepare(x, return_indices, out)
    result = torch_sort(x, return_indices)
    if out is None:
        return result
    if not return_indices:
        return out.copy_(result)
    return tuple(mine.copy_(torchs) for mine, torchs in zip(out, result, strict=True))
