"""SpMV, the reference: each product in float64, added to its row, rounded once."""

from __future__ import annotations

from typing import Any

from flashpath.kernels.spmv.host import prepare


def reference(row_ptr: Any, col: Any, val: Any, x: Any, out: Any | None = None) -> Any:
    """y[r] = Σ val[j] x[col[j]] over the entries j of row r"""
    return prepare(row_ptr, col, val, x, out).y.copy_(truth(row_ptr, col, val, x))


def truth(row_ptr: Any, col: Any, val: Any, x: Any) -> Any:
    """The same, not rounded to the type of val."""
    import torch  # here: listing the ladder shall not wait for it

    lengths = row_ptr.long().diff()
    row = torch.repeat_interleave(torch.arange(lengths.numel(), device=val.device), lengths)
    products = val.double() * x.double()[col.long()]
    return torch.zeros(lengths.numel(), dtype=torch.float64, device=val.device).index_add_(0, row, products)
