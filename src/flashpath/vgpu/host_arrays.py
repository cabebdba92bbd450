"""Arrays of the host as a launch sees them: which bytes are theirs, and what they were cut from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from flashpath.errors import FlashpathError
from flashpath.vgpu.device import HostArray


def _bounds(address: int, shape: Sequence[int], strides: Sequence[int], size: int) -> tuple[int, int]:
    """The first byte of an array and the one after its last; strides in bytes, of either sign."""
    if 0 in shape:
        return address, address
    steps = [(extent - 1) * stride for extent, stride in zip(shape, strides, strict=True)]
    first = address + sum(step for step in steps if step < 0)
    return first, address + sum(step for step in steps if step > 0) + size


def describe(parameter: int, array: Any) -> HostArray:
    """A NumPy array, a torch tensor on the CPU or anything with DLPack that `parameter` points to."""
    if hasattr(array, "untyped_storage"):
        return _describe_tensor(parameter, array)
    view = cast("np.ndarray[Any, Any]", array if isinstance(array, np.ndarray) else np.from_dlpack(array))
    address = view.ctypes.data
    first, last = _bounds(address, view.shape, view.strides, view.itemsize)
    root = view
    while isinstance(root.base, np.ndarray):
        root = cast("np.ndarray[Any, Any]", root.base)
    owner_first, owner_last = _bounds(root.ctypes.data, root.shape, root.strides, root.itemsize)
    owner_first, owner_last = min(first, owner_first), max(last, owner_last)
    return HostArray(parameter, address, first, last, owner_first, owner_last, bool(view.flags.writeable))


def _describe_tensor(parameter: int, tensor: Any) -> HostArray:
    if tensor.device.type != "cpu":
        raise FlashpathError("vgpu.tensor-on", device=str(tensor.device))
    size = tensor.element_size()
    address = tensor.data_ptr()
    if tensor.is_contiguous():
        first, last = address, address + tensor.numel() * size
    else:
        first, last = _bounds(address, tensor.shape, [stride * size for stride in tensor.stride()], size)
    storage = tensor.untyped_storage()
    owner_first = storage.data_ptr()
    owner_last = owner_first + storage.nbytes()
    return HostArray(
        parameter, address, first, last, min(first, owner_first), max(last, owner_last), writable=True
    )
