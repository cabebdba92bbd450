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


def same_bits(value: Any, other: Any) -> bool:
    """Whether the tensors of both are the same, bit for bit: NaN equals itself here, and 0.0 is not -0.0."""
    ours, theirs = tensors(value), tensors(other)
    if len(ours) != len(theirs):
        return False
    pairs = zip(ours, theirs, strict=True)
    return all(a.dtype == b.dtype and bool(load_torch().equal(_bits(a), _bits(b))) for a, b in pairs)


def _bits(tensor: Any) -> Any:
    """The same memory as integers; wide ones, since comparing them takes a byte for each."""
    torch = load_torch()
    tensor = torch.view_as_real(tensor.detach().resolve_conj()) if tensor.is_complex() else tensor.detach()
    kinds = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
    return tensor.view(kinds[tensor.element_size()])


def changed_argument(arguments: tuple[Any, ...], saved: tuple[Any, ...]) -> int | None:
    """The position of the first argument that no longer is what its copy in `saved` is."""
    pairs = enumerate(zip(arguments, saved, strict=True))
    return next((index for index, (now, before) in pairs if not same_bits(now, before)), None)


def can_replace(fresh: Any, value: Any) -> bool:
    """Whether `fresh` holds new values for all of `value`: the same kinds and shapes, the same numbers."""
    ours, theirs = leaves(fresh), leaves(value)
    if len(ours) != len(theirs) or same_bits(fresh, value):
        return False
    for one, other in zip(ours, theirs, strict=True):
        new, old = tensors(one), tensors(other)
        if new or old:
            if len(new) != len(old) or new[0].shape != old[0].shape or new[0].dtype != old[0].dtype:
                return False
        elif one is not other and (type(one) is not type(other) or one != other):
            return False
    return True


def altered(value: Any) -> Any:
    """A copy with other values: each floating-point tensor turned round and halved, the rest as it is.

    Integers may be offsets into something, where any other value is a fault. Turned round and halved, a
    positive tensor stays positive, a symmetric matrix symmetric and a definite one definite.
    """
    copied = copy_of(value)
    for tensor in tensors(copied):
        if tensor.is_floating_point() or tensor.is_complex():
            # float8 has no arithmetic.
            wide = tensor.float() if tensor.element_size() == 1 else tensor
            tensor.copy_((wide.flip(tuple(range(wide.dim()))) * 0.5).to(tensor.dtype))
    return copied


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
