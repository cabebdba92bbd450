"""`rope`: pairs of every head of q and k turned by the angles of their position, both in one launch."""

from collections.abc import Sequence
from typing import Any, overload

import torch

from flashpath.kernels.rope.ladder import LADDER
from flashpath.kernels.rope.problem import check
from flashpath.ops.checking import SYMBOLS, refuse, require_flag, require_tensors
from flashpath.ops.plans import planned
from flashpath.ops.registration import define, tell_if_slow

Tensor = torch.Tensor


def _rows(x: Tensor | None) -> Tensor | None:
    """Returns the tensor with its last dimension contiguous; the rungs take all other strides."""
    return x if x is None or x.shape[-1] == 1 or x.stride(-1) == 1 else x.contiguous()


def _forward(
    q: Tensor,
    k: Tensor | None,
    cos: Tensor,
    sin: Tensor,
    positions: Tensor | None,
    offset: int,
    interleaved: bool,
    inverse: bool,
) -> tuple[Tensor, Tensor]:
    tell_if_slow("rope", q)
    inputs = *map(_rows, (q, k, cos, sin)), positions, offset, interleaved, inverse
    turned, k_turned = LADDER.best(*inputs).rung(*inputs)
    return turned, q.new_empty(0) if k_turned is None else k_turned


def _fake(q: Tensor, k: Tensor | None, *rest: Any) -> tuple[Tensor, Tensor]:
    check(q, k, *rest)
    return q.new_empty(q.shape), q.new_empty(0 if k is None else k.shape)


def _save(ctx: Any, inputs: Sequence[Any], output: tuple[Tensor, Tensor]) -> None:
    _, k, cos, sin, positions, *ctx.rest = inputs
    ctx.has_k = k is not None
    ctx.save_for_backward(cos, sin, positions)
    ctx.set_materialize_grads(False)
    if k is None:
        ctx.mark_non_differentiable(output[1])


def _backward(ctx: Any, dq: Tensor | None, dk: Tensor | None) -> tuple[Tensor | None, ...]:
    """Turns back what comes in: a rotation's transpose is its inverse."""
    cos, sin, positions = ctx.saved_tensors
    offset, interleaved, inverse = ctx.rest
    dk = dk if ctx.has_k else None
    first, second = (dk, None) if dq is None else (dq, dk)
    nothing = (None,) * 6
    if first is None:
        return None, None, *nothing
    turned, other = _rope(first, second, cos, sin, positions, offset, interleaved, not inverse)
    if dq is None:
        return None, turned, *nothing
    return turned, None if dk is None else other, *nothing


_rope = define(
    "rope",
    "(Tensor q, Tensor? k, Tensor cos, Tensor sin, Tensor? positions, SymInt offset, bool interleaved,"
    " bool inverse) -> (Tensor, Tensor)",
    _forward,
    _fake,
    _backward,
    _save,
)


@overload
def rope(
    q: Tensor,
    k: Tensor,
    cos: Tensor,
    sin: Tensor,
    *,
    positions: Tensor | None = ...,
    offsets: int | Tensor = ...,
    interleaved: bool = ...,
) -> tuple[Tensor, Tensor]: ...
@overload
def rope(
    q: Tensor,
    k: None,
    cos: Tensor,
    sin: Tensor,
    *,
    positions: Tensor | None = ...,
    offsets: int | Tensor = ...,
    interleaved: bool = ...,
) -> tuple[Tensor, None]: ...
@overload
def rope(
    q: Tensor,
    k: Tensor | None,
    cos: Tensor,
    sin: Tensor,
    *,
    positions: Tensor | None = ...,
    offsets: int | Tensor = ...,
    interleaved: bool = ...,
) -> tuple[Tensor, Tensor | None]: ...
@planned
def rope(
    q: Tensor,
    k: Tensor | None,
    cos: Tensor,
    sin: Tensor,
    *,
    positions: Tensor | None = None,
    offsets: int | Tensor = 0,
    interleaved: bool = False,
) -> Any:
    """q and k with their pairs turned by the angles of their positions, in one launch.

    q: (batch, sequence, heads, dim) or (tokens, heads, dim), float32, float16 or bfloat16; k: the same but
    for its heads, or None. Their last stride is 1; all others may be any, so that heads-first tensors are
    given transposed. cos and sin: float32 or q's type, (positions, pairs), of which tokens take the rows that
    `positions`, (sequence) or (batch, sequence), say, or count them up from `offsets`, one number or one for
    each of the batch; or (batch or 1, sequence, pairs), a row for each token. The first 2 · pairs elements of
    a head turn, the others stay.

    Pairs are (x[i], x[i + pairs]), or (x[2 i], x[2 i + 1]) where `interleaved`. Computed in float32, rounded
    once. Gradients of any order, of q and k. Positions without a row are refused of CPU tensors; on a GPU
    nobody looks, and nothing turns there.
    """
    given = {"k": k, "positions": positions, "offsets": offsets if isinstance(offsets, Tensor) else None}
    require_tensors("rope", q=q, cos=cos, sin=sin, **{key: x for key, x in given.items() if x is not None})
    require_flag("rope", "interleaved", interleaved)
    for key, x in (("cos", cos), ("sin", sin)):
        if x.requires_grad and torch.is_grad_enabled():
            refuse("ops.rope-gradient", key=key)
    one_sequence = q.dim() == 3
    if one_sequence:
        q, k = q.unsqueeze(0), None if k is None else k.unsqueeze(0)
    rows, offset = _positions(q, positions, offsets)
    if rows is not None and not rows.is_cuda and not torch.compiler.is_compiling():
        _check_rows(q, cos, rows)
    turned, k_turned = _rope(q, k, cos, sin, rows, offset, interleaved, False)
    if one_sequence:
        turned, k_turned = turned.squeeze(0), k_turned.squeeze(0)
    return turned, None if k is None else k_turned


def turned(q: Tensor, cos: Tensor, sin: Tensor, rows: Tensor, interleaved: bool) -> Tensor:
    """q (batch, sequence, heads, dim) at these rows, (batch or 1, sequence); no row turns nothing."""
    if cos.dtype != q.dtype or sin.dtype != q.dtype:
        cos, sin = cos.float(), sin.float()
    return _rope(q, None, cos, sin, rows, 0, interleaved, False)[0]


def _positions(q: Tensor, positions: Tensor | None, offsets: Any) -> tuple[Tensor | None, Any]:
    """Returns (batch or 1, sequence or 1) of positions, or none of them, and a number to count from."""
    if positions is not None:
        if isinstance(offsets, Tensor) or offsets != 0:
            refuse("ops.rope-both")
        return positions.unsqueeze(0) if positions.dim() == 1 else positions, 0
    if isinstance(offsets, Tensor):
        if offsets.dim() != 1 or q.dim() != 4 or offsets.shape[0] != q.shape[0]:
            refuse("ops.rope-offsets", shape=str(tuple(offsets.shape)), shape2=str(tuple(q.shape)))
        return offsets.unsqueeze(1), 0
    if not isinstance(offsets, (int, *SYMBOLS[:1])) or isinstance(offsets, bool):
        refuse("ops.not-whole", name="rope", key="offsets", value=f"{offsets!r:.80}")
    return None, offsets


def _check_rows(q: Tensor, cos: Tensor, rows: Tensor) -> None:
    """Refuses positions that the table has no row for."""
    if not rows.numel() or q.dim() != 4 or cos.dim() != 2 or rows.is_meta:
        return
    counted = q.shape[1] - 1 if rows.shape[-1] == 1 else 0
    least, most = int(rows.min()), int(rows.max()) + max(counted, 0)
    if least < 0 or most >= cos.shape[0]:
        refuse("kernels.rope-beyond", first=least, last=most, rows=cos.shape[0])
