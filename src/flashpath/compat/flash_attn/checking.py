"""What flash-attn's functions ask of arguments before they take them apart; the operators ask the rest."""

from typing import Any

import torch

from flashpath.ops.checking import refuse, require_tensors

Tensor = torch.Tensor
LAYOUTS = {
    4: "(batch, sequence, heads, dim)",
    3: "(tokens, heads, dim)",
}


def require_layout(name: str, dims: int, layout: str | None = None, **tensors: Any) -> None:
    """Tensors of so many dimensions."""
    require_tensors(name, **tensors)
    for key, x in tensors.items():
        if x.dim() != dims:
            refuse(f"{name} got {key} of shape {tuple(x.shape)}.", f"It takes {layout or LAYOUTS[dims]}.")


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
        refuse(f"{name} got {key} of shape {tuple(x.shape)}.", f"It takes {layout}.")
    return x.unbind(place)


def window_sides(name: str, window: Any) -> tuple[int, int]:
    """As flash-attn reads them: two whole numbers of any kind, and every negative one means no bound."""
    try:
        left, right = window
        sides = int(left), int(right)
        is_pair = sides == (left, right)
    except (TypeError, ValueError, RuntimeError):
        is_pair = False
        sides = -1, -1
    if not is_pair:
        refuse(
            f"{name} got window_size = {window!r:.80}.",
            "It takes (left, right), two whole numbers; negative ones are no bound.",
        )
    return max(-1, sides[0]), max(-1, sides[1])


def whole_number(name: str, key: str, value: Any) -> int:
    """A whole number, perhaps in a tensor of one element."""
    try:
        number = int(value)
        is_whole = number == value and not isinstance(value, bool)
    except (TypeError, ValueError, RuntimeError):
        number, is_whole = 0, False
    if not is_whole:
        refuse(f"{name} got {key} = {value!r:.80}.", "It takes a whole number.")
    return number


def require_pages(name: str, pages: Any, block_table: Any, cu_seqlens: Any) -> None:
    """What a page table and the bounds of sequences have to be; their numbers on the CPU only."""
    if block_table.dim() != 2 or block_table.dtype != torch.int32:
        refuse(
            f"{name} got block_table of shape {tuple(block_table.shape)}, {block_table.dtype}.",
            "It takes int32 of shape (sequences, pages).",
        )
    if cu_seqlens.dim() != 1 or cu_seqlens.numel() != block_table.shape[0] + 1:
        refuse(
            f"{name} got cu_seqlens_k of shape {tuple(cu_seqlens.shape)} and block_table of "
            f"{tuple(block_table.shape)}.",
            "There is one bound for each sequence, and one more.",
        )
    if pages.is_cuda or torch.compiler.is_compiling():
        return
    size, count = pages.shape[1], pages.shape[0]
    lengths: list[int] = cu_seqlens.diff().tolist()
    for row, length in zip(block_table.tolist(), lengths, strict=True):
        used = row[: -(-length // size)] if size else row
        if not 0 <= length <= size * len(row) or any(not 0 <= page < count for page in used):
            refuse(
                f"{name} got a sequence of {length} keys with the pages {used!r:.80}, of {size} keys each.",
                f"Its pages must hold it, and are numbers from 0 to {count - 1}.",
            )


def require_one_query_each(name: str, q: Any, cu_seqlens: Any) -> None:
    """Bounds of sequences of one query; their numbers on the CPU only."""
    if (
        cu_seqlens.dim() != 1
        or cu_seqlens.dtype != torch.int32
        or cu_seqlens.numel() != q.shape[0] + 1
        or cu_seqlens.device != q.device
    ):
        refuse(
            f"{name} got cu_seqlens_q of shape {tuple(cu_seqlens.shape)}, {cu_seqlens.dtype} on "
            f"{cu_seqlens.device}.",
            f"It takes int32 of shape ({q.shape[0] + 1}), one for each sequence and one more, on {q.device}.",
        )
    if q.is_cuda or torch.compiler.is_compiling():
        return
    bounds: list[int] = cu_seqlens.tolist()
    if bounds != list(range(q.shape[0] + 1)):
        refuse(
            f"{name} got cu_seqlens_q = {bounds!r:.80}, {q.shape[0]} tokens and max_seqlen_q = 1.",
            "It must begin with 0 and rise by 1 for each sequence.",
        )


def require_longest(name: str, q: Any, cu_seqlens: Any, most: int) -> None:
    """No sequence of keys longer than max_seqlen_k says; on the CPU only."""
    if q.is_cuda or torch.compiler.is_compiling():
        return
    lengths: list[int] = cu_seqlens.diff().tolist()
    if lengths and max(lengths) > most:
        refuse(
            f"{name} got max_seqlen_k = {most}, and a sequence of {max(lengths)}.",
            "It must be no less than the longest.",
        )
