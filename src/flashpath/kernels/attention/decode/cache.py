"""What decoding is asked for: a cache of keys and values, perhaps in pages, and what a step adds to it.

Sequence b has lengths[b] keys in the cache before the step, of which the first left_pad[b] are none at all.
The step's own keys are written behind them, rotated; then its queries, rotated to their positions, see what
attention lets them see of lengths[b] + new keys, the last query standing at the last key.

Rotary embedding: with c = cos[position, i] and s = sin[position, i], the pair (x, y) number i of the first
2 · pairs elements becomes (x c - y s, x s + y c). Interleaved pairs are (x[2i], x[2i + 1]), the others
(x[i], x[i + pairs]). Keys stand at lengths[b] + their number, and so do the queries; without any bound
(causal or window) all queries stand at lengths[b].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from flashpath.errors import FlashpathError
from flashpath.kernels.attention.problem import PLAIN, Called, Options, check
from flashpath.kernels.building import dtype_name

_CALLED = Called("attention_decode", "k_cache", "v_cache")


@dataclass(frozen=True)
class Cache:
    """k and v: (batch, capacity, kv_heads, dim), or with a page table (pages, page_size, kv_heads, dim)."""

    k: Any
    v: Any
    lengths: Any  # int32, (batch): keys there are before the step
    page_table: Any | None = None  # int32, (batch, pages of the longest sequence)
    batch_index: Any | None = None  # int32, (batch): which entry of a cache without pages a sequence has
    left_pad: Any | None = None  # int32, (batch)

    @property
    def page_size(self) -> int:
        """Of a cache without pages: all of a sequence."""
        return self.k.shape[1]

    @property
    def capacity(self) -> int:
        """The most keys that a sequence can have."""
        return self.page_size if self.page_table is None else self.page_size * self.page_table.shape[1]


@dataclass(frozen=True)
class Rotary:
    """cos, sin: (positions, pairs), of the type of q."""

    cos: Any
    sin: Any
    interleaved: bool = True

    @property
    def pairs(self) -> int:
        return self.cos.shape[1]


@dataclass(frozen=True)
class Step:
    """A checked step. q: (batch, queries, heads, dim); new k and v: (batch, new, kv_heads, dim)."""

    q: Any
    cache: Cache
    new_k: Any | None = None
    new_v: Any | None = None
    rotary: Rotary | None = None
    options: Options = PLAIN

    @property
    def batch(self) -> int:
        return self.q.shape[0]

    @property
    def queries(self) -> int:
        return self.q.shape[1]

    @property
    def heads(self) -> int:
        return self.q.shape[2]

    @property
    def kv_heads(self) -> int:
        return self.cache.k.shape[2]

    @property
    def group(self) -> int:
        return self.heads // self.kv_heads

    @property
    def dim(self) -> int:
        return self.q.shape[3]

    @property
    def v_dim(self) -> int:
        return self.cache.v.shape[3]

    @property
    def new(self) -> int:
        return 0 if self.new_k is None else self.new_k.shape[1]

    @property
    def queries_move(self) -> bool:
        """Whether rotary embedding sees each query at a position of its own."""
        return self.options.left >= 0 or self.options.right >= 0

    @property
    def scale(self) -> float:
        return self.dim**-0.5 if self.options.scale is None else self.options.scale

    def new_out(self) -> Any:
        return self.q.new_empty((*self.q.shape[:-1], self.v_dim))

    def new_lse(self) -> Any:
        import torch

        return self.q.new_empty((self.batch, self.heads, self.queries), dtype=torch.float32)


def prepare_step(
    q: Any,
    cache: Cache,
    new_k: Any | None = None,
    new_v: Any | None = None,
    rotary: Rotary | None = None,
    options: Options = PLAIN,
) -> Step:
    """Check all of it. What is only read is copied where its rows are not whole; the cache never is."""
    if options.dropout_p:
        raise FlashpathError("kernels.decode-dropout")
    paged = cache.page_table is not None
    check(q, _one_for_each(q, cache.k), _one_for_each(q, cache.v), options, called=_CALLED)
    _check_cache(q, cache, paged)
    if (new_k is None) != (new_v is None):
        raise FlashpathError("kernels.decode-half-given")
    if new_k is not None and new_v is not None:
        new = new_k.shape[1] if new_k.dim() == 4 else "new"
        for name, x, wanted in (
            ("k", new_k, (q.shape[0], new, *cache.k.shape[2:])),
            ("v", new_v, (q.shape[0], new, *cache.v.shape[2:])),
        ):
            if tuple(x.shape) != wanted or x.dtype != q.dtype or x.device != q.device:
                shape = ", ".join(map(str, wanted))
                raise FlashpathError(
                    "kernels.decode-new-keys",
                    name=name,
                    shape=str(tuple(x.shape)),
                    dtype=dtype_name(x),
                    device=str(x.device),
                    shape2=shape,
                    dtype2=dtype_name(q),
                    device2=str(q.device),
                )
        new_k, new_v = _whole(new_k), _whole(new_v)
    if rotary is not None:
        rotary = _checked_rotary(q, rotary)
    return Step(_whole(q), cache, new_k, new_v, rotary, options)


def _one_for_each(q: Any, x: Any) -> Any:
    """A tensor of the cache as attention would see it: one entry for each sequence."""
    if q.dim() != 4 or x.dim() != 4:
        return x  # which is refused
    entry = x[:1] if x.shape[0] else x.new_empty((1, 1, 1, 1)).expand(1, *x.shape[1:])
    return entry.expand(q.shape[0], -1, -1, -1)


def check_numbers(step: Step) -> None:
    """Lengths, pages and places. Kernels trust them: on a GPU one would have to wait to look at them."""
    cache = step.cache
    lengths: list[int] = cache.lengths.tolist()
    most = cache.capacity - step.new
    if lengths and not 0 <= min(lengths) <= max(lengths) <= most:
        raise FlashpathError(
            "kernels.decode-lengths", lengths=f"{lengths!r:.80}", new=step.new, capacity=cache.capacity
        )
    if step.rotary is not None and lengths:
        steps = max(step.new, step.queries if step.queries_move else min(step.queries, 1))
        positions, wanted = step.rotary.cos.shape[0], max(lengths) + steps if steps else 0
        if wanted > positions:
            raise FlashpathError(
                "kernels.decode-rotary-short",
                positions=positions,
                lengths=f"{lengths!r:.80}",
                queries=step.queries,
                new=step.new,
                wanted=wanted,
            )
    if cache.left_pad is not None:
        pads: list[int] = cache.left_pad.tolist()
        if any(not 0 <= pad <= length + step.new for pad, length in zip(pads, lengths, strict=True)):
            raise FlashpathError("kernels.decode-leftpad", pads=f"{pads!r:.80}", lengths=f"{lengths!r:.80}")
    places: list[tuple[str, list[int]]] = []
    if cache.batch_index is not None:
        places.append(("cache_batch_idx", cache.batch_index.tolist()))
    if cache.page_table is not None:
        for row, length in zip(cache.page_table.tolist(), lengths, strict=True):
            places.append(("page_table", row[: -(-(length + step.new) // cache.page_size)]))
    for name, numbers in places:
        if any(not 0 <= number < cache.k.shape[0] for number in numbers):
            raise FlashpathError(
                "kernels.decode-places", name=name, numbers=f"{numbers!r:.80}", shape=cache.k.shape[0] - 1
            )


def _whole(x: Any) -> Any:
    return x if x.stride(-1) == 1 else x.contiguous()


def _check_cache(q: Any, cache: Cache, paged: bool) -> None:
    import torch

    batch = q.shape[0]
    if cache.k.stride(-1) != 1 or cache.v.stride(-1) != 1:
        raise FlashpathError("kernels.decode-cache-strided")
    if paged and cache.batch_index is not None:
        raise FlashpathError("kernels.decode-table-and-index")
    if not paged and cache.batch_index is None and cache.k.shape[0] != batch:
        raise FlashpathError("kernels.decode-batches", shape=cache.k.shape[0], batch=batch)
    vectors = {
        "cache_seqlens": cache.lengths,
        "cache_batch_idx": cache.batch_index,
        "cache_leftpad": cache.left_pad,
    }
    for name, x in {**vectors, "page_table": cache.page_table}.items():
        if x is None and name != "cache_seqlens":
            continue
        dims = 2 if name == "page_table" else 1
        if (
            not isinstance(x, torch.Tensor)
            or x.dtype != torch.int32
            or x.dim() != dims
            or x.shape[0] != batch
            or x.device != q.device
            or x.stride(-1) != 1
            or (dims == 2 and x.shape[1] == 0)  # kernels read it ahead of knowing how many keys there are
        ):
            shape = "(batch, pages), pages > 0" if dims == 2 else "(batch)"
            raise FlashpathError(
                "kernels.decode-int32",
                name=name,
                x=f"{x!r:.80}",
                shape=shape,
                batch=batch,
                device=str(q.device),
            )


def _checked_rotary(q: Any, rotary: Rotary) -> Rotary:
    cos, sin = rotary.cos, rotary.sin
    if (
        cos.dim() != 2
        or cos.shape != sin.shape
        or cos.dtype != q.dtype
        or sin.dtype != q.dtype
        or cos.device != q.device
        or sin.device != q.device
        or 2 * cos.shape[1] > q.shape[-1]
        or cos.shape[1] % 8
    ):
        raise FlashpathError(
            "kernels.decode-rotary",
            shape=str(tuple(cos.shape)),
            shape2=str(tuple(sin.shape)),
            dtype=dtype_name(cos),
            dtype2=dtype_name(q),
            shape3=q.shape[-1] // 2,
        )
    return Rotary(cos.contiguous(), sin.contiguous(), rotary.interleaved)
