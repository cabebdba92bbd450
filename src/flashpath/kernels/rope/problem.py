"""What every rung of rope is given: checked, with the numbers that kernels need beside the tensors."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

from flashpath.errors import FlashpathError
from flashpath.kernels.arguments import FLOATS, output, require_apart, require_tensor
from flashpath.kernels.building import dtype_name

INDICES = {"int32": "int", "int64": "long long"}


class RopeShape(ctypes.Structure):
    """Packs what the struct of the same name in rope.cuh has; strides are in elements."""

    _fields_ = (
        *((name, ctypes.c_longlong * 3) for name in ("q", "k")),  # of batch, sequence and head
        *((name, ctypes.c_longlong * 2) for name in ("cosine", "sine")),  # of batch and row
        ("position", ctypes.c_longlong * 2),  # of batch and sequence
        ("offset", ctypes.c_longlong),
        *((name, ctypes.c_int) for name in ("sequence", "rows", "heads", "kv_heads", "dim", "pairs")),
        ("counts", ctypes.c_int),
        ("sign", ctypes.c_float),
    )


@dataclass(frozen=True)
class Problem:
    """A checked call. Without k there are no heads of it, and q stands in for the pointer."""

    q: Any  # (batch, sequence, heads, dim), like k but for its heads; the last stride is 1
    k: Any | None
    cos: Any  # (rows, pairs), or (batch or 1, sequence, pairs): a row for each token
    sin: Any
    positions: Any | None  # (batch or 1, sequence or 1)
    offset: int
    interleaved: bool
    inverse: bool
    q_out: Any = None
    k_out: Any | None = None

    @property
    def batch(self) -> int:
        return self.q.shape[0]

    @property
    def sequence(self) -> int:
        return self.q.shape[1]

    @property
    def dim(self) -> int:
        return self.q.shape[3]

    @property
    def pairs(self) -> int:
        return self.cos.shape[-1]

    @property
    def heads(self) -> tuple[int, int]:
        """Returns the heads of q and of k."""
        return self.q.shape[2], 0 if self.k is None else self.k.shape[2]

    @property
    def tokens(self) -> int:
        return self.batch * self.sequence

    @property
    def results(self) -> tuple[Any, Any | None]:
        return self.q_out, self.k_out

    @property
    def counts(self) -> bool:
        """Whether positions go up by one from token to token, from what is given or from 0."""
        return self.positions is None or self.positions.shape[1] == 1

    @property
    def position_strides(self) -> tuple[int, int]:
        return (0, 0) if self.positions is None else _broadcast(self.positions)

    def angle_strides(self, angles: Any) -> tuple[int, int]:
        """Returns how far batches and rows of cos or sin are apart."""
        if angles.dim() == 2:
            return 0, angles.stride(0)
        return 0 if angles.shape[0] == 1 else angles.stride(0), angles.stride(1)

    def shape(self) -> RopeShape:
        k_strides = (0, 0, 0) if self.k is None else self.k.stride()[:3]
        triple, pair = ctypes.c_longlong * 3, ctypes.c_longlong * 2
        return RopeShape(
            triple(*self.q.stride()[:3]),
            triple(*k_strides),
            *(pair(*self.angle_strides(each)) for each in (self.cos, self.sin)),
            pair(*self.position_strides),
            self.offset,
            self.sequence,
            self.cos.shape[-2],
            *self.heads,
            self.dim,
            self.pairs,
            int(self.counts),
            -1.0 if self.inverse else 1.0,
        )


def _broadcast(x: Any) -> tuple[int, int]:
    """Returns strides that stay where there is only one."""
    first, second = (0 if size == 1 else step for size, step in zip(x.shape, x.stride(), strict=True))
    return first, second


def check(
    q: Any,
    k: Any | None,
    cos: Any,
    sin: Any,
    positions: Any | None = None,
    offset: int = 0,
    interleaved: bool = False,
    inverse: bool = False,
) -> Problem:
    """Returns the call, which fits together; it has no outputs yet."""
    _check_heads(q, k)
    _check_angles(q, cos, sin)
    if cos.dim() == 3 and (positions is not None or offset):
        raise FlashpathError("kernels.rope-rows-and-positions", shape=str(tuple(cos.shape)))
    if positions is not None:
        _check_positions(q, positions)
    elif cos.dim() == 2 and (offset < 0 or offset + q.shape[1] > cos.shape[0]):
        raise FlashpathError(
            "kernels.rope-beyond", first=offset, last=offset + q.shape[1] - 1, rows=cos.shape[0]
        )
    return Problem(q, k, cos, sin, positions, offset, interleaved, inverse)


def prepare(
    q: Any,
    k: Any | None,
    cos: Any,
    sin: Any,
    positions: Any | None = None,
    offset: int = 0,
    interleaved: bool = False,
    inverse: bool = False,
    out: tuple[Any, Any | None] | None = None,
) -> Problem:
    """Returns the call with its outputs, made where there are none: `out` is a pair."""
    check(q, k, cos, sin, positions, offset, interleaved, inverse)
    for name, x in (("q", q), ("k", k), ("cos", cos), ("sin", sin)):
        if x is not None and x.numel() and x.shape[-1] > 1 and x.stride(-1) != 1:
            raise FlashpathError("kernels.rope-strides", name=name, strides=str(tuple(x.stride())))
    given_q, given_k = (None, None) if out is None else out
    q_out = output("rope", given_q, q.shape, q.dtype, q.device)
    k_out = None if k is None else output("rope", given_k, k.shape, k.dtype, k.device)
    for each in (given_q, given_k):
        if each is not None:
            require_apart("rope", each, q, *([] if k is None else [k]))
    return Problem(q, k, cos, sin, positions, offset, interleaved, inverse, q_out, k_out)


# ---- Checks ----------------------------------------------------------------------------------------------


def _require_tensor(name: str, x: Any) -> None:
    import torch

    if not isinstance(x, torch.Tensor):
        raise FlashpathError("kernels.no-tensor", operation="rope", name=name, x=f"{x!r:.80}")


def _check_heads(q: Any, k: Any | None) -> None:
    for name, x in {"q": q, **({} if k is None else {"k": k})}.items():
        require_tensor("rope", name, x, FLOATS, dims=4, may_be_strided=True)
    if k is None:
        return
    alike = (*q.shape[:2], q.shape[3]) == (*k.shape[:2], k.shape[3])
    if not alike or q.dtype != k.dtype or q.device != k.device:
        raise FlashpathError(
            "kernels.rope-unlike",
            shape=str(tuple(q.shape)),
            dtype=dtype_name(q),
            device=str(q.device),
            shape2=str(tuple(k.shape)),
            dtype2=dtype_name(k),
            device2=str(k.device),
        )


def _check_angles(q: Any, cos: Any, sin: Any) -> None:
    for name, x in (("cos", cos), ("sin", sin)):
        _require_tensor(name, x)
        if dtype_name(x) not in ("float32", dtype_name(q)) or x.device != q.device or x.dtype != cos.dtype:
            raise FlashpathError(
                "kernels.rope-angle-type",
                name=name,
                dtype=dtype_name(x),
                device=str(x.device),
                dtypes=list(dict.fromkeys(("float32", dtype_name(q)))),
                device2=str(q.device),
            )
    of_tokens = cos.dim() == 3 and cos.shape[0] in (1, q.shape[0]) and cos.shape[1] == q.shape[1]
    if cos.shape != sin.shape or not (cos.dim() == 2 or of_tokens) or 2 * cos.shape[-1] > q.shape[3]:
        raise FlashpathError(
            "kernels.rope-angles",
            shape=str(tuple(cos.shape)),
            shape2=str(tuple(sin.shape)),
            shape3=str(tuple(q.shape)),
            most=q.shape[3] // 2,
        )


def _check_positions(q: Any, positions: Any) -> None:
    _require_tensor("positions", positions)
    batch, sequence = q.shape[:2]
    fits = positions.dim() == 2 and positions.shape[0] in (1, batch) and positions.shape[1] in (1, sequence)
    if not fits or dtype_name(positions) not in INDICES or positions.device != q.device:
        raise FlashpathError(
            "kernels.rope-positions",
            shape=str(tuple(positions.shape)),
            dtype=dtype_name(positions),
            device=str(positions.device),
            batch=batch,
            sequence=sequence,
            dtypes=list(INDICES),
            device2=str(q.device),
        )
