"""`attention_decode`, a step of decoding against a cache, and `merge_states`, two attentions as one."""

import functools
from typing import Any, Literal, NamedTuple, overload

import torch

from flashpath.errors import FlashpathError
from flashpath.jit import observing
from flashpath.kernels.attention.decode import host_triton
from flashpath.kernels.attention.decode.cache import Cache, Rotary, Step, check_numbers, prepare_step
from flashpath.kernels.attention.decode.dispatch import host_of
from flashpath.kernels.attention.decode.ladder import LADDER
from flashpath.kernels.attention.decode.reference import decode as reference_decode
from flashpath.kernels.attention.problem import HALVES, Options
from flashpath.kernels.attention.score_mod import key_of, of_key
from flashpath.kernels.building import dtype_name
from flashpath.ops.attention import Backend
from flashpath.ops.checking import (
    number,
    refuse,
    require_flag,
    require_tensors,
    require_whole,
    window_sides,
)
from flashpath.ops.limits import decode_products, tell_or_refuse_if_large
from flashpath.ops.plans import planned, planned_without_gradient
from flashpath.ops.registration import define

Tensor = torch.Tensor


class _Call(NamedTuple):
    """The arguments of the operator: options in the types that a schema knows."""

    q: Tensor
    k_cache: Tensor
    v_cache: Tensor
    lengths: Tensor
    k: Tensor | None
    v: Tensor | None
    cos: Tensor | None
    sin: Tensor | None
    interleaved: bool
    page_table: Tensor | None
    batch_index: Tensor | None
    left_pad: Tensor | None
    num_splits: int | None
    causal: bool
    left: int
    right: int
    softcap: float
    scale: float | None
    alibi_slopes: Tensor | None
    sinks: Tensor | None
    score_mod: str
    backend: str

    def step(self) -> Step:
        options = Options(
            self.causal,
            (self.left, self.right),
            self.softcap,
            self.scale,
            self.alibi_slopes,
            self.sinks,
            score_mod=of_key(self.score_mod),
        )
        cache = Cache(
            self.k_cache, self.v_cache, self.lengths, self.page_table, self.batch_index, self.left_pad
        )
        rotary = None if self.cos is None else Rotary(self.cos, self.sin, self.interleaved)
        return prepare_step(self.q, cache, self.k, self.v, rotary, options)


def _forward(*arguments: Any) -> tuple[Tensor, Tensor]:
    call = _Call(*arguments)
    step = call.step()
    if not step.q.is_cuda:
        check_numbers(step)
    if call.backend == "reference":
        out, lse = reference_decode(step)
        return out.to(step.q.dtype), lse.float()
    if not step.q.is_cuda:
        tell_or_refuse_if_large("attention_decode", step.q, decode_products(step))
    rung = LADDER.best(step, call.backend or None).rung
    return host_of(rung).decode(step, call.num_splits)


def _fake(*arguments: Any) -> tuple[Tensor, Tensor]:
    step = _Call(*arguments).step()
    return step.new_out(), step.new_lse()


_decode: Any = define(
    "attention_decode",
    "(Tensor q, Tensor(a!) k_cache, Tensor(b!) v_cache, Tensor lengths, Tensor? k, Tensor? v, Tensor? cos,"
    " Tensor? sin, bool interleaved, Tensor? page_table, Tensor? batch_index, Tensor? left_pad,"
    " int? num_splits, bool causal, int left, int right, float softcap, float? scale, Tensor? alibi_slopes,"
    " Tensor? sinks, str score_mod, str backend) -> (Tensor, Tensor)",
    _forward,
    _fake,
    mutates=("k_cache", "v_cache"),
)


def full_lengths(q: Tensor, length: int) -> Tensor | int:
    """The lengths of caches that are all full; on a GPU a tensor that is kept, as it is always the same."""
    if torch.compiler.is_compiling() or type(q) is not Tensor or not q.is_cuda:
        return length
    library: Any = torch
    core = library._C
    is_watched = observing.observer is None and core._len_torch_dispatch_stack()
    if is_watched or core._cuda_isCurrentStreamCapturing():
        return length
    lengths = _kept_lengths(q.shape[0], length, q.get_device())
    if observing.observer is not None:
        observing.observer.lent(lengths, lambda: lengths)
    return lengths


@functools.lru_cache(maxsize=256)
def _kept_lengths(batch: int, length: int, device: int) -> Tensor:
    lengths = torch.full((batch,), length, dtype=torch.int32, device=device)
    torch.cuda.current_stream(device).synchronize()  # it is used on any stream
    return lengths


@overload
def attention_decode(
    q: Tensor,
    k_cache: Tensor,
    v_cache: Tensor,
    *,
    cache_seqlens: Tensor | int,
    k: Tensor | None = ...,
    v: Tensor | None = ...,
    rotary_cos: Tensor | None = ...,
    rotary_sin: Tensor | None = ...,
    rotary_interleaved: bool = ...,
    page_table: Tensor | None = ...,
    cache_batch_idx: Tensor | None = ...,
    cache_leftpad: Tensor | None = ...,
    num_splits: int | None = ...,
    causal: bool = ...,
    window: tuple[int, int] | None = ...,
    softcap: float = ...,
    scale: float | None = ...,
    alibi_slopes: Tensor | None = ...,
    sinks: Tensor | None = ...,
    score_mod: Any = ...,
    return_lse: Literal[False] = False,
    backend: Backend | None = ...,
) -> Tensor: ...
@overload
def attention_decode(
    q: Tensor,
    k_cache: Tensor,
    v_cache: Tensor,
    *,
    cache_seqlens: Tensor | int,
    k: Tensor | None = ...,
    v: Tensor | None = ...,
    rotary_cos: Tensor | None = ...,
    rotary_sin: Tensor | None = ...,
    rotary_interleaved: bool = ...,
    page_table: Tensor | None = ...,
    cache_batch_idx: Tensor | None = ...,
    cache_leftpad: Tensor | None = ...,
    num_splits: int | None = ...,
    causal: bool = ...,
    window: tuple[int, int] | None = ...,
    softcap: float = ...,
    scale: float | None = ...,
    alibi_slopes: Tensor | None = ...,
    sinks: Tensor | None = ...,
    score_mod: Any = ...,
    return_lse: Literal[True],
    backend: Backend | None = ...,
) -> tuple[Tensor, Tensor]: ...
@overload
def attention_decode(
    q: Tensor,
    k_cache: Tensor,
    v_cache: Tensor,
    *,
    cache_seqlens: Tensor | int,
    k: Tensor | None = ...,
    v: Tensor | None = ...,
    rotary_cos: Tensor | None = ...,
    rotary_sin: Tensor | None = ...,
    rotary_interleaved: bool = ...,
    page_table: Tensor | None = ...,
    cache_batch_idx: Tensor | None = ...,
    cache_leftpad: Tensor | None = ...,
    num_splits: int | None = ...,
    causal: bool = ...,
    window: tuple[int, int] | None = ...,
    softcap: float = ...,
    scale: float | None = ...,
    alibi_slopes: Tensor | None = ...,
    sinks: Tensor | None = ...,
    score_mod: Any = ...,
    return_lse: bool,
    backend: Backend | None = ...,
) -> Tensor | tuple[Tensor, Tensor]: ...
@planned_without_gradient
def attention_decode(
    q: Tensor,
    k_cache: Tensor,
    v_cache: Tensor,
    *,
    cache_seqlens: Tensor | int,
    k: Tensor | None = None,
    v: Tensor | None = None,
    rotary_cos: Tensor | None = None,
    rotary_sin: Tensor | None = None,
    rotary_interleaved: bool = True,
    page_table: Tensor | None = None,
    cache_batch_idx: Tensor | None = None,
    cache_leftpad: Tensor | None = None,
    num_splits: int | None = None,
    causal: bool = False,
    window: tuple[int, int] | None = None,
    softcap: float = 0.0,
    scale: float | None = None,
    alibi_slopes: Tensor | None = None,
    sinks: Tensor | None = None,
    score_mod: Any = None,
    return_lse: bool = False,
    backend: Backend | None = None,
) -> Any:
    """A step of decoding: new queries against a cache of keys and values, which the step's own are added to.

    q: (batch, queries, heads, dim), float16 or bfloat16. The cache, of the same type: (batch, capacity,
    kv_heads, dim), or with `page_table` (batch, pages), int32, (pages, page_size, kv_heads, dim). Sequence b
    has cache_seqlens[b] keys in it. `k` and `v`: (batch, new, kv_heads, dim), written behind them, in place.
    `rotary_cos` and `rotary_sin`, (positions, pairs), rotate q and k on the way: interleaved pairs, or the
    two halves of the first 2 · pairs elements.

    Keys are read by `num_splits` blocks for each head, None for as many as the GPU wants. The options are
    those of `attention`, without dropout. There is no gradient: what requires one is taken as detached, the
    cache too, and the result requires none. With return_lse also LSE, (batch, heads,
    queries). `backend`: triton, cuda, reference, or None for the fastest of them.
    """
    require_tensors("attention_decode", q=q, k_cache=k_cache, v_cache=v_cache)
    given = {
        "k": k,
        "v": v,
        "rotary_cos": rotary_cos,
        "rotary_sin": rotary_sin,
        "page_table": page_table,
        "cache_batch_idx": cache_batch_idx,
        "cache_leftpad": cache_leftpad,
        "alibi_slopes": alibi_slopes,
        "sinks": sinks,
        "cache_seqlens": None if isinstance(cache_seqlens, int) else cache_seqlens,
    }
    require_tensors("attention_decode", **{name: x for name, x in given.items() if x is not None})
    if q.dim() != 4:
        refuse("ops.decode-q", shape=str(tuple(q.shape)))
    if isinstance(cache_seqlens, int):
        if isinstance(cache_seqlens, bool) or not 0 <= cache_seqlens < 2**31:
            refuse("ops.decode-lengths", cache_seqlens=cache_seqlens)
        cache_seqlens = torch.full((q.shape[0],), cache_seqlens, dtype=torch.int32, device=q.device)
    if (rotary_cos is None) != (rotary_sin is None):
        refuse("ops.decode-rotary")
    for name, value in (
        ("causal", causal),
        ("return_lse", return_lse),
        ("rotary_interleaved", rotary_interleaved),
    ):
        require_flag("attention_decode", name, value)
    if backend is not None and not isinstance(backend, str):
        refuse("ops.decode-backend", backend=f"{backend!r:.80}")
    if num_splits is not None:
        require_whole("attention_decode", "num_splits", num_splits)
    softcap = number("attention_decode", "softcap", softcap)
    scale = None if scale is None else number("attention_decode", "scale", scale)
    left, right = window_sides("attention_decode", window)
    q, k_cache, v_cache = map(_detached, (q, k_cache, v_cache))
    k, v, rotary_cos, rotary_sin = map(_detached, (k, v, rotary_cos, rotary_sin))
    alibi_slopes, sinks = map(_detached, (alibi_slopes, sinks))
    out, lse = _decode(
        *(q, k_cache, v_cache, cache_seqlens, k, v, rotary_cos, rotary_sin, rotary_interleaved),
        *(page_table, cache_batch_idx, cache_leftpad, num_splits, causal, left, right, float(softcap), scale),
        *(
            alibi_slopes,
            None if sinks is None else sinks.float(),
            key_of(score_mod),
            backend or "",
        ),
    )
    return (out, lse) if return_lse else out


def _detached(x: Any) -> Any:
    return x.detach() if x is not None and x.requires_grad else x


# ---- merge_states ----------------------------------------------------------------------------------------


def _check_states(a: Tensor, a_lse: Tensor, b: Tensor, b_lse: Tensor) -> None:
    if dtype_name(a) not in HALVES:
        raise FlashpathError("ops.merge-dtype", dtype=dtype_name(a), known=list(HALVES))
    wanted = (a.shape[0], a.shape[2], a.shape[1]) if a.dim() == 4 else None
    for name, x, lse in (("a", a, a_lse), ("b", b, b_lse)):
        fits = x.shape == a.shape and x.dtype == a.dtype and lse.dtype == torch.float32
        if not fits or tuple(lse.shape) != wanted:
            raise FlashpathError(
                "ops.merge-shapes", name=name, shape=str(tuple(x.shape)), shape2=str(tuple(lse.shape))
            )
        for each, tensor in ((name, x), (f"{name}_lse", lse)):
            if tensor.device != a.device:
                raise FlashpathError(
                    "ops.merge-devices", device=str(a.device), each=each, device2=str(tensor.device)
                )


def _merge_forward(a: Tensor, a_lse: Tensor, b: Tensor, b_lse: Tensor) -> tuple[Tensor, Tensor]:
    _check_states(a, a_lse, b, b_lse)
    return host_triton.merge_states(a.contiguous(), a_lse.contiguous(), b.contiguous(), b_lse.contiguous())


def _merge_fake(a: Tensor, a_lse: Tensor, b: Tensor, b_lse: Tensor) -> tuple[Tensor, Tensor]:
    _check_states(a, a_lse, b, b_lse)
    return a.new_empty(a.shape), a_lse.new_empty(a_lse.shape)


def _save_states(ctx: Any, inputs: Any, output: Any) -> None:
    ctx.save_for_backward(*inputs, *output)
    ctx.set_materialize_grads(False)


def _merge_vjp(ctx: Any, dout: Tensor | None, dlse: Tensor | None) -> tuple[Tensor, ...]:
    """out = w_a a + w_b b with w = e^(lse_part - lse): each lse moves the weights of both, and the sum."""
    a, a_lse, b, b_lse, out, lse = ctx.saved_tensors
    base = torch.where(lse == -torch.inf, 0.0, lse)
    grads: list[Tensor] = []
    for x, part in ((a, a_lse), (b, b_lse)):
        weight = torch.exp(part - base)  # (batch, heads, queries)
        of_lse = torch.zeros_like(part) if dlse is None else weight * dlse
        of_x = torch.zeros_like(x)
        if dout is not None:
            of_x = (dout.float() * weight.transpose(1, 2)[..., None]).to(x.dtype)
            moved = (dout.float() * (x.float() - out.float())).sum(-1).transpose(1, 2)
            of_lse = of_lse + weight * moved
        grads += [of_x, of_lse]
    return tuple(grads)


_merge: Any = define(
    "merge_states",
    "(Tensor a, Tensor a_lse, Tensor b, Tensor b_lse) -> (Tensor, Tensor)",
    _merge_forward,
    _merge_fake,
    _merge_vjp,
    _save_states,
)


@planned
def merge_states(a: Tensor, a_lse: Tensor, b: Tensor, b_lse: Tensor) -> tuple[Tensor, Tensor]:
    """Two attentions of the same queries over different keys, as one over all of them: (out, lse).

    a, b: (batch, queries, heads, dim), float16 or bfloat16, and a_lse, b_lse: (batch, heads, queries),
    float32, as `attention` gives them with return_lse. A sink counts in each call that was given it: give it
    to one of them. Gradients: of all.
    """
    require_tensors("merge_states", a=a, a_lse=a_lse, b=b, b_lse=b_lse)
    return _merge(a, a_lse, b, b_lse)
