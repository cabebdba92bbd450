"""What `torch.utils.flop_counter.FlopCounterMode` counts of the operators that multiply.

As torch counts its own: 2 for a multiply-add; of attention all pairs of a query and a key of one sequence,
whatever a mask hides, and five products in the place of two for its gradient. So a model that takes our
operators has the FLOPs that it had.
"""

from typing import Any

import torch
from torch.utils import flop_counter

_torch: Any = torch
_counter: Any = flop_counter
_ops, _register = _torch.ops.flashpath, _counter.register_flop_formula
Tensor = torch.Tensor


@_register(_ops.matmul)
def _matmul(a: Any, b: Any, *_: Any, **__: Any) -> int:
    return 2 * a[0] * a[1] * b[1]


@_register(_ops.bmm)
def _bmm(a: Any, b: Any, *_: Any, **__: Any) -> int:
    return 2 * a[0] * a[1] * a[2] * b[2]


@_register(_ops.linear)
def _linear(x: Any, weight: Any, *_: Any, **__: Any) -> int:
    return 2 * x[0] * x[1] * weight[0]


@_register(_ops.spmv)
def _spmv(_row_ptr: Any, _col: Any, val: Any, *_: Any, **__: Any) -> int:
    return 2 * val[0]


@_register(_ops.attention, get_raw=True)
def _attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    _slopes: Any,
    _sinks: Any,
    _seed: Any,
    cu_q: Tensor | None,
    cu_k: Tensor | None,
    max_q: int,
    max_k: int,
    *_: Any,
    **__: Any,
) -> int:
    if cu_q is None or cu_k is None:
        pairs = q.shape[0] * q.shape[1] * k.shape[1]
    else:
        lengths = zip(_differences(cu_q, max_q), _differences(cu_k, max_k), strict=True)
        pairs = sum(queries * keys for queries, keys in lengths)
    return 2 * q.shape[-2] * pairs * (q.shape[-1] + v.shape[-1])


@_register(_ops.attention_backward, get_raw=True)
def _attention_backward(_dout: Any, _dlse: Any, _out: Any, _lse: Any, *arguments: Any, **options: Any) -> int:
    return _attention(*arguments, **options) * 5 // 2


@_register(_ops.attention_decode, get_raw=True)
def _attention_decode(
    q: Tensor, k_cache: Tensor, v_cache: Tensor, lengths: Tensor, k: Tensor | None, *more: Any, **__: Any
) -> int:
    page_table: Tensor | None = more[4]
    room = k_cache.shape[1] * (1 if page_table is None else page_table.shape[1])
    new = 0 if k is None else k.shape[1]
    keys = sum(min(length + new, room) for length in _numbers(lengths, room))
    return 2 * q.shape[-2] * q.shape[1] * keys * (q.shape[-1] + v_cache.shape[-1])


def _differences(bounds: Tensor, most: int) -> list[int]:
    """The lengths of sequences, or the longest for each where there is no memory to look into."""
    if _is_without_memory(bounds):
        return [most] * (bounds.shape[0] - 1)
    lengths: Any = bounds.diff()
    return lengths.tolist()


def _numbers(x: Any, most: int) -> list[int]:
    return [most] * x.numel() if _is_without_memory(x) else x.tolist()


def _is_without_memory(x: Tensor) -> bool:
    return x.is_meta or type(x) is not Tensor
