"""Inputs that are never twice the same: what a function kept of an earlier call is of no use in the next."""

from __future__ import annotations

from typing import Any

from flashpath.bench.arrays import tensors
from flashpath.bench.device import load_torch


class Varying:
    """Changes inputs a little each time it is called: two neighbours change places in each tensor of floats.

    The tensors have the values that they had, and where and of what shape they were. Whole numbers may be
    offsets, and a caller's own data may mean something: there the same is written again, which is all that
    torch's version of a tensor counts.
    """

    def __init__(self, inputs: tuple[Any, ...], is_drawn: bool) -> None:
        self._rows = [(_row(tensor), is_drawn and _is_float(tensor)) for tensor in tensors(inputs)]
        self._calls = 0

    def __call__(self) -> None:
        self._calls += 1
        for row, swaps in self._rows:
            length = len(row)
            if length == 0:
                continue
            if length == 1:
                row.copy_(row.clone())
                continue
            first = self._calls % (length - 1)
            pair = row[first : first + 2]
            pair.copy_(pair.flip(0) if swaps else pair.clone())


def _is_float(tensor: Any) -> bool:
    return tensor.is_floating_point() or tensor.is_complex()


def _row(tensor: Any) -> Any:
    """The first row of a tensor; none where one number stands for many, since that cannot be written to.

    Bits are moved: there are types of eight that torch does not turn round.
    """
    torch = load_torch()
    row = tensor.detach()
    if 0 in row.stride() or row.numel() == 0:
        return torch.empty(0)
    while row.dim() > 1:
        row = row[0]
    return (row.view(torch.uint8) if row.element_size() == 1 else row).reshape(-1)
