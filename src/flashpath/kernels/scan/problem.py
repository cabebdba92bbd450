"""What every scan rung starts from: checked arguments, its operation's name, and how wide it may read."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from flashpath.errors import FlashpathError
from flashpath.kernels.arguments import (
    FLOATS,
    output,
    require_apart,
    require_like,
    require_tensor,
    widest_pack,
)
from flashpath.kernels.building import CPP_TYPES, dtype_name

FOLDER = Path(__file__).parent

OPERATIONS = {"sum": "Sum", "max": "Max"}  # and how kernels spell them
DTYPES = (*FLOATS, "int32")
THREADS = 256
BYTES_PER_LANE = 128  # of elements or of results, in the rungs that keep a tile in registers


class Problem(NamedTuple):
    """A checked scan of `rows` rows of n elements each; a vector is one row."""

    rows: int
    n: int
    heads: Any  # (rows, n) of bytes that are not 0 where a segment starts; None where none does
    out: Any


def prepare(x: Any, op: str, flags: Any | None, out: Any | None) -> Problem:
    """Check the arguments; makes the output where there is none.

    A sum of int32 is int64, as torch.cumsum's; everything else has the type of x.
    """
    import torch

    if op not in OPERATIONS:
        raise FlashpathError("kernels.scan-operation", op=f"{op!r}", operations=list(OPERATIONS))
    require_tensor("scan", "x", x, DTYPES)
    if x.dim() not in (1, 2):
        raise FlashpathError("kernels.scan-shape", shape=str(tuple(x.shape)))
    heads = None
    if flags is not None:
        dtype = flags.dtype if getattr(flags, "dtype", None) == torch.bool else torch.uint8
        require_like("scan", "flags", flags, x.shape, dtype, x.device, "bool/uint8")
        heads = flags.view(torch.uint8)
    dtype = torch.int64 if x.dtype == torch.int32 and op == "sum" else x.dtype
    result = output("scan", out, x.shape, dtype, x.device)
    if out is not None:
        require_apart("scan", result, *(each for each in (x, flags) if each is not None))
    rows, n = (1, x.numel()) if x.dim() == 1 else x.shape
    return Problem(rows, n, heads, result)


def functor(x: Any, op: str, heads: Any | None) -> str:
    """The operation's C++ name: `Whole<Sum<float>>`."""
    return f"{'Whole' if heads is None else 'Segmented'}<{OPERATIONS[op]}<{CPP_TYPES[dtype_name(x)]}>>"


def access_width(x: Any, heads: Any | None, out: Any, multiple: int | None) -> int:
    """Elements per access: as many as fit 16 bytes of x and of out, at addresses that allow it."""
    width = min(widest_pack(x, multiple=multiple), widest_pack(out, multiple=multiple))
    while heads is not None and heads.data_ptr() % width:
        width //= 2
    return width
