"""Arguments and results as a benchmark sees them: the tensors inside tuples, lists and dicts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from flashpath.bench.device import load_torch


def leaves(value: Any) -> list[Any]:
    """Everything inside the tuples, lists and dicts of `value`, in order."""
    if isinstance(value, (tuple, list)):
        return [leaf for item in cast("Iterable[Any]", value) for leaf in leaves(item)]
    if isinstance(value, dict):
        return [leaf for item in cast("dict[Any, Any]", value).values() for leaf in leaves(item)]
    return [value]


def tensors(value: Any) -> list[Any]:
    """The torch tensors and NumPy arrays inside `value`, all as torch tensors that share their memory."""
    import numpy as np

    torch = load_torch()
    found: list[Any] = []
    for leaf in leaves(value):
        if isinstance(leaf, torch.Tensor):
            found.append(leaf)
        elif isinstance(leaf, np.ndarray):
            found.append(torch.as_tensor(leaf))
    return found


def copy_of(value: Any) -> Any:
    """`value` with fresh copies of its tensors and arrays; anything else is shared."""
    import numpy as np

    if isinstance(value, (tuple, list)):
        items = [copy_of(item) for item in cast("Iterable[Any]", value)]
        return items if isinstance(value, list) else tuple(items)
    if isinstance(value, dict):
        return {key: copy_of(item) for key, item in cast("dict[Any, Any]", value).items()}
    if isinstance(value, load_torch().Tensor):
        return value.detach().clone()
    return cast("Any", value).copy() if isinstance(value, np.ndarray) else value


def restore(value: Any, saved: Any) -> None:
    """Write the tensors of `saved`, a `copy_of(value)`, back into `value`."""
    with load_torch().no_grad():
        for tensor, before in zip(tensors(value), tensors(saved), strict=True):
            # A broadcast tensor (stride 0) cannot be written to, by anyone.
            if 0 not in tensor.stride():
                tensor.detach().copy_(before)


def total_bytes(value: Any) -> int:
    """Bytes of all tensors in `value`, one that appears twice counted once."""
    sizes = {tensor.data_ptr(): tensor.numel() * tensor.element_size() for tensor in tensors(value)}
    return sum(sizes.values())


def poison_freed_memory(like: Any) -> None:
    """Fill the memory that the next results will likely be made in with NaN (all bits set).

    The allocator hands the last result's memory to the next caller: an implementation that writes nothing
    would otherwise return the right answer of the one before it.
    """
    torch = load_torch()
    blocks = [
        torch.empty(tensor.numel() * tensor.element_size(), dtype=torch.uint8, device=tensor.device)
        for tensor in tensors(like)
    ]
    for block in blocks:
        block.fill_(255)
