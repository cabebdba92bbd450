"""What attention is asked for, and what every rung may rely on once it is checked.

Key j is visible to query i of the same sequence where i + shift - left <= j <= i + shift + right, with
shift = keys - queries: the last query stands at the last key. `causal` is right = 0. A score is
scale · (q · k), then softcap · tanh(score / softcap), then minus ALiBi's slope · |i + shift - j|, then what
`score_mod` makes of it. A sink is one more score of a head, whose value is nothing. LSE is the logarithm of
the sum of all e^score, the sink's too: float32, (batch, heads, queries), or (heads, tokens) of sequences.
A query that sees no key has output 0 and LSE -inf, or the sink.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from flashpath.errors import FlashpathError
from flashpath.kernels.attention.score_mod import ScoreMod
from flashpath.kernels.building import dtype_name
from flashpath.messages import any_of

HALVES = ("float16", "bfloat16")
LARGEST_DIM = 256
DIM_STEP = 8  # 16 bytes of a half type


class Called(NamedTuple):
    """What was called, and what it calls its tensors of keys and values: for errors."""

    operator: str = "attention"
    k: str = "k"
    v: str = "v"


ATTENTION, ATTENTION_VARLEN = Called(), Called("attention_varlen")


@dataclass(frozen=True)
class Options:
    """What is done between the scores and the weights."""

    causal: bool = False
    window: tuple[int, int] | None = None  # (left, right), both inclusive; -1: no bound
    softcap: float = 0.0
    scale: float | None = None  # dim ** -0.5
    alibi_slopes: Any | None = None  # float32, (heads) or (batch, heads)
    sinks: Any | None = None  # float32, (heads)
    dropout_p: float = 0.0
    seed: Any | None = None  # int64, (1), on the device of q: of dropout
    score_mod: ScoreMod | None = None

    @property
    def left(self) -> int:
        return self.window[0] if self.window else -1

    @property
    def right(self) -> int:
        return 0 if self.causal else self.window[1] if self.window else -1


PLAIN = Options()


@dataclass(frozen=True)
class Sequences:
    """Several sequences, one after the other in one tensor: where each begins, and the last ends."""

    cu_q: Any  # int32, (batch + 1), on the device of q
    cu_k: Any
    max_q: int
    max_k: int

    @property
    def bounds(self) -> tuple[Any, Any, int, int]:
        return self.cu_q, self.cu_k, self.max_q, self.max_k


@dataclass(frozen=True)
class Problem:
    """A checked call. q: (batch, queries, heads, dim); or, of several sequences, (tokens, heads, dim)."""

    q: Any
    k: Any
    v: Any
    options: Options
    sequences: Sequences | None = None

    @property
    def operator(self) -> str:
        """Which it is a call of."""
        return _called(self.sequences).operator

    @property
    def batch(self) -> int:
        return self.q.shape[0] if self.sequences is None else self.sequences.cu_q.shape[0] - 1

    @property
    def heads(self) -> int:
        return self.q.shape[-2]

    @property
    def kv_heads(self) -> int:
        return self.k.shape[-2]

    @property
    def group(self) -> int:
        """How many heads of q share one of k and v."""
        return self.heads // self.kv_heads if self.kv_heads else 1

    @property
    def queries(self) -> int:
        """Returns the queries of the longest sequence."""
        return self.q.shape[1] if self.sequences is None else self.sequences.max_q

    @property
    def keys(self) -> int:
        return self.k.shape[1] if self.sequences is None else self.sequences.max_k

    @property
    def dim(self) -> int:
        return self.q.shape[-1]

    @property
    def v_dim(self) -> int:
        return self.v.shape[-1]

    @property
    def scale(self) -> float:
        return self.dim**-0.5 if self.options.scale is None else self.options.scale

    def strides(self, x: Any) -> tuple[int, int, int]:
        """(batch, row, head) of q, k, v or of a tensor laid out like them; sequences have no batch stride."""
        return x.stride()[:3] if self.sequences is None else (0, *x.stride()[:2])

    @property
    def lse_strides(self) -> tuple[int, int]:
        """(batch, head); queries follow each other."""
        if self.sequences is None:
            return self.heads * self.queries, self.queries
        return 0, self.q.shape[0]

    @property
    def lse_shape(self) -> tuple[int, ...]:
        if self.sequences is None:
            return self.batch, self.heads, self.queries
        return self.heads, self.q.shape[0]

    @property
    def slope_strides(self) -> tuple[int, int]:
        """(batch, head) of ALiBi's slopes."""
        slopes = self.options.alibi_slopes
        if slopes is None:
            return 0, 0
        return (0, slopes.stride(0)) if slopes.dim() == 1 else slopes.stride()

    def new_out(self) -> Any:
        return self.q.new_empty((*self.q.shape[:-1], self.v_dim))

    def new_lse(self) -> Any:
        import torch

        return self.q.new_empty(self.lse_shape, dtype=torch.float32)


def prepare(
    q: Any,
    k: Any,
    v: Any,
    options: Options = PLAIN,
    sequences: Sequences | None = None,
    dtypes: Sequence[str] = HALVES,
) -> Problem:
    """Check all of it. Rows that an instruction of 16 bytes could not read are copied; other strides stay."""
    check(q, k, v, options, sequences, dtypes)
    if sequences is not None and (sequences.max_q > q.shape[0] or sequences.max_k > k.shape[0]):
        # No sequence is longer than all are together: blocks are launched for no more than that.
        longest = min(sequences.max_q, q.shape[0]), min(sequences.max_k, k.shape[0])
        sequences = Sequences(sequences.cu_q, sequences.cu_k, *longest)
    return Problem(with_whole_rows(q), with_whole_rows(k), with_whole_rows(v), options, sequences)


def check(
    q: Any,
    k: Any,
    v: Any,
    options: Options = PLAIN,
    sequences: Sequences | None = None,
    dtypes: Sequence[str] = HALVES,
    called: Called | None = None,
) -> Problem:
    """Types, shapes, devices and options, of tensors that need not have memory.

    `called` is whose arguments they are, if neither attention's nor attention_varlen's.
    """
    called = called or _called(sequences)
    _check_tensors(q, k, v, sequences, dtypes, called)
    _check_options(q, options, sequences, called.operator)
    return Problem(q, k, v, options, sequences)


def _called(sequences: Sequences | None) -> Called:
    return ATTENTION if sequences is None else ATTENTION_VARLEN


def with_whole_rows(x: Any) -> Any:
    """x, or a copy whose rows along the last dimension are dense and begin at multiples of 16 bytes."""
    step = 16 // x.element_size()
    dense = x.stride(-1) == 1 and x.data_ptr() % 16 == 0 and not any(s % step for s in x.stride()[:-1])
    if dense or not x.numel():
        return x
    import torch

    # Not .contiguous(): it copies nothing where only the address, or the stride of one element, is odd.
    return x.clone(memory_format=torch.contiguous_format)


def _check_tensors(
    q: Any, k: Any, v: Any, sequences: Sequences | None, dtypes: Sequence[str], called: Called
) -> None:
    import torch

    dims = 4 if sequences is None else 3
    layout = "(batch, sequence, heads, dim)" if sequences is None else "(tokens, heads, dim)"
    operator = called.operator
    for name, x in (("q", q), (called.k, k), (called.v, v)):
        if not isinstance(x, torch.Tensor):
            raise FlashpathError("kernels.attention-no-tensor", operator=operator, name=name, x=f"{x!r:.80}")
        tensor: Any = x
        if tensor.dim() != dims:
            raise FlashpathError(
                "kernels.attention-layout",
                operator=operator,
                name=name,
                shape=str(tuple(tensor.shape)),
                layout=layout,
            )
        if dtype_name(tensor) not in dtypes:
            raise FlashpathError(
                "kernels.attention-dtype",
                operator=operator,
                dtype=dtype_name(tensor),
                name=name,
                known=any_of(dtypes),
            )
        if tensor.dtype != q.dtype or tensor.device != q.device:
            raise FlashpathError(
                "kernels.attention-unlike",
                operator=operator,
                dtype=dtype_name(q),
                device=str(q.device),
                name=name,
                dtype2=dtype_name(tensor),
                device2=str(tensor.device),
            )
    if k.shape[:-1] != v.shape[:-1] or q.shape[-1] != k.shape[-1] or (dims == 4 and q.shape[0] != k.shape[0]):
        raise FlashpathError(
            "kernels.attention-shapes" if dims == 4 else "kernels.varlen-shapes",
            operator=operator,
            shape=str(tuple(q.shape)),
            k=called.k,
            shape2=str(tuple(k.shape)),
            v=called.v,
            shape3=str(tuple(v.shape)),
        )
    heads, kv_heads = q.shape[-2], k.shape[-2]
    if heads and (not kv_heads or heads % kv_heads):
        raise FlashpathError(
            "kernels.attention-heads",
            operator=operator,
            heads=heads,
            kv_heads=kv_heads,
            k=called.k,
            v=called.v,
        )
    for name, dim in ((f"q and {called.k}", q.shape[-1]), (called.v, v.shape[-1])):
        if not 0 < dim <= LARGEST_DIM or dim % DIM_STEP:
            raise FlashpathError(
                "kernels.attention-dim",
                operator=operator,
                dim=dim,
                name=name,
                dim_step=DIM_STEP,
                largest_dim=LARGEST_DIM,
            )
    if sequences is not None:
        _check_sequences(q, sequences)


def _check_sequences(q: Any, sequences: Sequences) -> None:
    import torch

    for name, x in (("cu_seqlens_q", sequences.cu_q), ("cu_seqlens_k", sequences.cu_k)):
        if not isinstance(x, torch.Tensor) or x.dtype != torch.int32 or x.dim() != 1 or not x.numel():
            raise FlashpathError("kernels.varlen-int32", name=name, x=f"{x!r:.80}")
        tensor: Any = x
        if tensor.device != q.device or not tensor.is_contiguous():
            raise FlashpathError(
                "kernels.varlen-device", name=name, device=str(tensor.device), device2=str(q.device)
            )
    if sequences.cu_q.shape != sequences.cu_k.shape:
        raise FlashpathError(
            "kernels.varlen-bounds", count=sequences.cu_q.numel(), count2=sequences.cu_k.numel()
        )


def check_bounds(problem: Problem) -> None:
    """The numbers in cu_seqlens. Kernels trust them: on a GPU one would have to wait to look at them."""
    if problem.sequences is None:
        return
    cu_q, cu_k, max_q, max_k = problem.sequences.bounds
    for name, cu, tokens, most in (("q", cu_q, problem.q, max_q), ("k", cu_k, problem.k, max_k)):
        bounds: list[int] = cu.tolist()
        lengths = [after - before for before, after in itertools.pairwise(bounds)]
        if bounds[0] != 0 or bounds[-1] != tokens.shape[0] or any(length < 0 for length in lengths):
            raise FlashpathError(
                "kernels.varlen-falls", name=name, bounds=f"{bounds!r:.80}", shape=tokens.shape[0]
            )
        if lengths and max(lengths) > most:
            raise FlashpathError("kernels.varlen-longest", name=name, most=most, max=max(lengths))


def _check_options(q: Any, options: Options, sequences: Sequences | None, operator: str) -> None:
    import torch

    window = options.window
    if window is not None and (len(window) != 2 or any(side < -1 for side in window)):
        raise FlashpathError("kernels.attention-window", operator=operator, window=f"{window!r}")
    if not math.isfinite(options.softcap) or options.softcap < 0:
        raise FlashpathError("kernels.attention-softcap", operator=operator, softcap=f"{options.softcap!r}")
    if options.scale is not None and not math.isfinite(options.scale):
        raise FlashpathError("kernels.attention-scale", operator=operator, scale=f"{options.scale!r}")
    if not 0 <= options.dropout_p < 1:
        raise FlashpathError(
            "kernels.attention-dropout", operator=operator, dropout_p=f"{options.dropout_p!r}"
        )
    heads = q.shape[-2]
    batch = q.shape[0] if sequences is None else sequences.cu_q.shape[0] - 1
    shapes: dict[str, tuple[Any, list[tuple[int, ...]], Any]] = {
        "alibi_slopes": (options.alibi_slopes, [(heads,), (batch, heads)], torch.float32),
        "sinks": (options.sinks, [(heads,)], torch.float32),
    }
    if options.dropout_p:
        shapes["dropout_seed"] = (options.seed, [(1,)], torch.int64)
    for name, (x, allowed, dtype) in shapes.items():
        if x is None and name != "dropout_seed":
            continue
        if (
            not isinstance(x, torch.Tensor)
            or tuple(x.shape) not in allowed
            or x.dtype != dtype
            or x.device != q.device
        ):
            raise FlashpathError(
                "kernels.attention-option",
                operator=operator,
                name=name,
                x=f"{x!r:.80}",
                dtype=str(dtype).removeprefix("torch."),
                device=str(q.device),
                known=list(map(str, allowed)),
            )


def visible_pairs(queries: int, keys: int, left: int = -1, right: int = -1) -> int:
    """How many keys all queries of a sequence see together: what FLOPs are counted from."""
    place = np.arange(queries) + (keys - queries)
    first = np.zeros(queries, int) if left < 0 else np.maximum(0, place - left)
    last = np.full(queries, keys - 1) if right < 0 else np.minimum(keys - 1, place + right)
    return int(np.maximum(0, last - first + 1).sum())


def block_pairs(queries: int, keys: int, left: int = -1, right: int = -1, block: int = 128) -> int:
    """How many scores kernels compute of a sequence: for a block of queries all keys that one of it sees."""
    first = np.arange(0, queries, block)
    last = np.minimum(first + block, queries) - 1
    shift = keys - queries
    begin = np.zeros(len(first), int) if left < 0 else np.maximum(0, first + shift - left)
    end = np.full(len(first), keys) if right < 0 else np.minimum(keys, last + shift + right + 1)
    return int(((last - first + 1) * np.maximum(0, end - begin)).sum())
