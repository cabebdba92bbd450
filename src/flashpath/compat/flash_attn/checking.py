"""What flash-attn's functions ask of arguments before they take them apart; the operators ask the rest."""

from collections.abc import Callable
from typing import Any

import torch

from flashpath.ops import checking
from flashpath.ops.checking import refuse, require_tensors

Tensor = torch.Tensor
LAYOUTS = {
    4: "(batch, sequence, heads, dim)",
    3: "(tokens, heads, dim)",
}


# What flash-attn calls otherwise than the operators do.
_NAMES = {
    "scale": "softmax_scale",
    "window": "window_size",
    "page_table": "block_table",
    "return_lse": "return_softmax_lse",
}


def called_as(name: str, operator: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Calls an operator; what it refuses is told by the name and in the words of the function called."""
    return checking.called_as(name, operator, *args, words=_NAMES, **options)


def require_layout(name: str, dims: int, layout: str | None = None, **tensors: Any) -> None:
    """Tensors of so many dimensions."""
    require_tensors(name, **tensors)
    for key, x in tensors.items():
        if x.dim() != dims:
            refuse(
                "compat.layout", name=name, key=key, shape=str(tuple(x.shape)), value=layout or LAYOUTS[dims]
            )


def require_given_tensors(name: str, **tensors: Any) -> None:
    """Tensors, or None."""
    require_tensors(name, **{key: x for key, x in tensors.items() if x is not None})


def unpacked(name: str, layout: str, **packed: Any) -> tuple[Tensor, ...]:
    """The parts of a packed tensor, along the dimension that the layout has their number in."""
    ((key, x),) = packed.items()
    wanted = layout.strip("()").split(", ")
    place = next(i for i, word in enumerate(wanted) if word.isdecimal())
    require_tensors(name, **packed)
    if x.dim() != len(wanted) or x.shape[place] != int(wanted[place]):
        refuse("compat.packed-layout", name=name, key=key, shape=str(tuple(x.shape)), layout=layout)
    return x.unbind(place)


def window_sides(name: str, window: Any) -> tuple[int, int]:
    """Reads a window as flash-attn does: two whole numbers of any kind; a negative one means no bound."""
    try:
        left, right = window
        sides = int(left), int(right)
        is_pair = sides == (left, right)
    except (TypeError, ValueError, RuntimeError):
        is_pair = False
        sides = -1, -1
    if not is_pair:
        refuse("compat.window", name=name, window=f"{window!r:.80}")
    return max(-1, sides[0]), max(-1, sides[1])


def whole_number(name: str, key: str, value: Any) -> int:
    """A whole number, perhaps in a tensor of one element."""
    try:
        number = int(value)
        is_whole = number == value and not isinstance(value, bool)
    except (TypeError, ValueError, RuntimeError):
        number, is_whole = 0, False
    if not is_whole:
        refuse("compat.not-whole", name=name, key=key, value=f"{value!r:.80}")
    return number


def require_pages(name: str, pages: Any, block_table: Any, cu_seqlens: Any) -> None:
    """Checks a page table and the bounds of sequences; the numbers in them only on the CPU."""
    if block_table.dim() != 2 or block_table.dtype != torch.int32:
        refuse(
            "compat.block-table", name=name, shape=str(tuple(block_table.shape)), dtype=str(block_table.dtype)
        )
    if cu_seqlens.dim() != 1 or cu_seqlens.numel() != block_table.shape[0] + 1:
        refuse(
            "compat.bounds-and-table",
            name=name,
            shape=str(tuple(cu_seqlens.shape)),
            shape2=str(tuple(block_table.shape)),
        )
    if pages.is_cuda or torch.compiler.is_compiling():
        return
    size, count = pages.shape[1], pages.shape[0]
    lengths: list[int] = cu_seqlens.diff().tolist()
    for row, length in zip(block_table.tolist(), lengths, strict=True):
        used = row[: -(-length // size)] if size else row
        if not 0 <= length <= size * len(row) or any(not 0 <= page < count for page in used):
            refuse("compat.pages", name=name, length=length, used=f"{used!r:.80}", size=size, count=count - 1)


def require_one_query_each(name: str, q: Any, cu_seqlens: Any) -> None:
    """Bounds of sequences of one query; their numbers on the CPU only."""
    if (
        cu_seqlens.dim() != 1
        or cu_seqlens.dtype != torch.int32
        or cu_seqlens.numel() != q.shape[0] + 1
        or cu_seqlens.device != q.device
    ):
        refuse(
            "compat.bounds-q",
            name=name,
            shape=str(tuple(cu_seqlens.shape)),
            dtype=str(cu_seqlens.dtype),
            device=str(cu_seqlens.device),
            shape2=q.shape[0] + 1,
            device2=str(q.device),
        )
    if q.is_cuda or torch.compiler.is_compiling():
        return
    bounds: list[int] = cu_seqlens.tolist()
    if bounds != list(range(q.shape[0] + 1)):
        refuse("compat.bounds-by-one", name=name, bounds=f"{bounds!r:.80}", shape=q.shape[0])


def require_longest(name: str, q: Any, cu_seqlens: Any, most: int) -> None:
    """No sequence of keys longer than max_seqlen_k says; on the CPU only."""
    if q.is_cuda or torch.compiler.is_compiling():
        return
    lengths: list[int] = cu_seqlens.diff().tolist()
    if lengths and max(lengths) > most:
        refuse("compat.longest-k", name=name, most=most, max=max(lengths))


def require_room(name: str, block_table: Any, lengths: Any, pages: Any, new: Any) -> None:
    """Refuses lengths beyond what the table has pages for; what is no tensor is refused by others."""
    if not (isinstance(block_table, Tensor) and isinstance(pages, Tensor)):
        return
    if (
        block_table.dim() != 2
        or pages.dim() != 4
        or (pages.is_cuda and torch.cuda.is_current_stream_capturing())
    ):
        return
    if isinstance(lengths, Tensor):
        longest = int(lengths.max()) if lengths.numel() and not lengths.is_meta else 0
    else:
        longest = lengths if isinstance(lengths, int) else 0
    added = new.shape[1] if isinstance(new, Tensor) and new.dim() == 4 else 0
    columns, size = block_table.shape[1], pages.shape[1]
    if longest + added > columns * size:
        refuse("compat.no-room", name=name, longest=longest, new=added, columns=columns, size=size)
