"""Matrices to time and test with: `(row_ptr, col)` of int32, drawn where they are needed."""

from __future__ import annotations

from typing import Any

LONGEST = 2**18  # entries of the longest row of a power-law matrix


def uniform(rows: int, length: int, device: str) -> tuple[Any, Any]:
    """A square matrix with `length` entries at random places in every row."""
    import torch

    row_ptr = torch.arange(rows + 1, device=device, dtype=torch.int32) * length
    col = torch.randint(rows, (rows, length), device=device, dtype=torch.int32).sort(dim=1).values
    return row_ptr, col.flatten()


def power_law_lengths(rows: int) -> Any:
    """The k-th longest row has LONGEST / k^0.8 entries: some are very long, half of them have a few."""
    import torch

    return (LONGEST / torch.arange(1, rows + 1, dtype=torch.float64) ** 0.8).to(torch.int64)


def power_law(rows: int, device: str) -> tuple[Any, Any]:
    """Rows of `power_law_lengths` in random order; some columns are as popular as some rows are long."""
    import torch

    lengths = power_law_lengths(rows)[torch.randperm(rows)]
    row_ptr = torch.zeros(rows + 1, dtype=torch.int32)
    row_ptr[1:] = lengths.cumsum(0)
    popular = torch.rand(int(row_ptr[-1]), device=device) ** 3
    return row_ptr.to(device), (popular * rows).to(torch.int32).clamp_(max=rows - 1)


def stencil(side: int, device: str) -> tuple[Any, Any]:
    """The five-point stencil on a square grid: each point and its neighbours above, left, right, below."""
    import torch

    point = torch.arange(side * side, device=device)
    y, x = point // side, point % side
    steps = torch.tensor([-side, -1, 0, 1, side], device=device)
    exists = torch.stack([y > 0, x > 0, y >= 0, x < side - 1, y < side - 1], dim=1)  # (points, 5)
    col = (point[:, None] + steps)[exists].to(torch.int32)
    row_ptr = torch.zeros(side * side + 1, device=device, dtype=torch.int32)
    row_ptr[1:] = exists.sum(dim=1).cumsum(0)
    return row_ptr, col
