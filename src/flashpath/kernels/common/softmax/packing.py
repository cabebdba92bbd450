"""How rows are cut into packs of up to 16 bytes, wherever they start."""

from __future__ import annotations

from typing import Any, NamedTuple

PACK_BYTES = 16


class Packing(NamedTuple):
    """How rows are cut: up to `packs` packs of `width` elements each; `whole` where none is cut short."""

    width: int
    whole: bool
    packs: int

    @property
    def arguments(self) -> str:
        """Returns the numbers as kernels take them."""
        return f"{self.width}, {str(self.whole).lower()}"


def packing(n: int, *tensors: Any) -> Packing:
    """The widest packs with which rows of n elements of all tensors can be moved in step.

    Tensors may start anywhere, but all at the same place within a pack.
    """
    size: int = tensors[0].element_size()
    first: int = tensors[0].data_ptr()
    width = PACK_BYTES // size
    while width > 1 and any((each.data_ptr() - first) % (width * size) for each in tensors):
        width //= 2
    if n % width == 0 and first % (width * size) == 0:
        return Packing(width, True, n // width)
    return Packing(width, False, (n + 2 * width - 2) // width)
