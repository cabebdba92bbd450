"""What every rung asks of its tensors, and how it says what is wrong with them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flashpath.errors import FlashpathError
from flashpath.kernels import building
from flashpath.kernels.building import dtype_name
from flashpath.messages import Message

FLOATS = ("float32", "float16", "bfloat16")


def require_tensor(operation: str, name: str, x: Any, dtypes: Sequence[str], dims: int | None = None) -> None:
    """A contiguous tensor of one of these types, with so many dimensions where `dims` says so."""
    import torch

    if not isinstance(x, torch.Tensor):
        raise FlashpathError("kernels.no-tensor", operation=operation, name=name, x=f"{x!r:.80}")
    tensor: Any = x
    if dtype_name(tensor) not in dtypes:
        raise FlashpathError(
            "kernels.wrong-dtype",
            operation=operation,
            dtype=dtype_name(tensor),
            name=name,
            dtypes=list(dtypes),
        )
    if dims is not None and tensor.dim() != dims:
        raise FlashpathError(
            "kernels.wrong-dims", operation=operation, name=name, shape=str(tuple(tensor.shape)), dims=dims
        )
    if not tensor.is_contiguous():
        raise FlashpathError("kernels.not-contiguous", operation=operation, name=name)


def require_like(
    operation: str, name: str, tensor: Any, shape: Sequence[int], dtype: Any, device: Any, types: str = ""
) -> None:
    """A contiguous tensor of exactly this shape, type and device; `types` names more types that are taken."""
    import torch

    shape = tuple(shape)
    like = {"shape": str(shape), "dtype": types or str(dtype).removeprefix("torch."), "device": str(device)}
    wanted = Message("kernels.like", like)  # what is not contiguous is told of only where it matters
    if not isinstance(tensor, torch.Tensor):
        raise FlashpathError(
            "kernels.no-tensor-like", operation=operation, name=name, tensor=f"{tensor!r:.80}", wanted=wanted
        )
    got: Any = tensor
    if tuple(got.shape) != shape or got.dtype != dtype or got.device != device or not got.is_contiguous():
        code = "kernels.unlike"
        if not got.is_contiguous():
            code, wanted = "kernels.unlike-strided", Message("kernels.like-contiguous", like)
        is_like = {"shape": str(tuple(got.shape)), "dtype": dtype_name(got), "device": str(got.device)}
        raise FlashpathError(code, operation=operation, name=name, wanted=wanted, **is_like)


def require_apart(operation: str, out: Any, *inputs: Any, in_place: bool = False) -> None:
    """The output shares no memory with an input, which would be overwritten before it is read.

    `in_place` allows exactly the input's memory, where each element is read before it is written.
    """
    if building.follower is not None:
        for tensor in inputs:
            building.follower.apart(out, tensor)
        return
    start, end = _span(out)
    for tensor in inputs:
        first, last = _span(tensor)
        if start < last and first < end and not (in_place and start == first):
            code = "kernels.overlaps-in-place" if in_place else "kernels.overlaps"
            raise FlashpathError(code, operation=operation)


def _span(tensor: Any) -> tuple[int, int]:
    first: int = tensor.data_ptr()
    return first, first + tensor.numel() * tensor.element_size()


def output(operation: str, out: Any | None, shape: Sequence[int], dtype: Any, device: Any) -> Any:
    """The caller's `out`, checked, or a new tensor."""
    import torch

    if out is None:
        return torch.empty(tuple(shape), dtype=dtype, device=device)
    require_like(operation, "out=", out, shape, dtype, device)
    return out


def widest_pack(*tensors: Any, multiple: int | None = None) -> int:
    """How many elements, up to 16 bytes of them, one access can move in all of these tensors.

    `multiple` is a length that has to be a whole number of packs: of a row, where rows follow each other.
    """
    size: int = tensors[0].element_size()
    width = 16 // size
    while width > 1 and (
        any(each.data_ptr() % (width * size) for each in tensors)
        or (multiple is not None and multiple % width)
    ):
        width //= 2
    return width
