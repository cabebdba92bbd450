"""`attention`: softmax(q kᵀ) v and its gradients, without ever writing the scores.

Gradients are kernels, which torch cannot differentiate. Where a gradient is to be differentiated again
(create_graph=True) it comes from the formula instead, with whole score matrices, in float32.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch

from flashpath.errors import FlashpathError
from flashpath.kernels.attention.decode import host as triton_decode
from flashpath.kernels.attention.decode.cache import Cache, Rotary, prepare_step
from flashpath.kernels.attention.decode.reference import decode as reference_decode
from flashpath.kernels.attention.dispatch import choose
from flashpath.kernels.attention.problem import HALVES, Options, Problem, Sequences, check, prepare
from flashpath.kernels.attention.reference import formula
from flashpath.kernels.attention.score_mod import ScoreMod, of_key, of_triton
from flashpath.ops.checking import require_number, require_tensors
from flashpath.ops.registration import define, tell_if_slow

Tensor = torch.Tensor
# More multiply-adds than this on CPU tensors are refused: the virtual GPU would need hours for them.
MOST_PRODUCTS_ON_CPU = 2**32
_ANY_FLOAT = (*HALVES, "float32", "float64")


class _Call(NamedTuple):
    """What an operator is given: options in the types that a schema knows."""

    q: Tensor
    k: Tensor
    v: Tensor
    alibi_slopes: Tensor | None
    sinks: Tensor | None
    seed: Tensor | None
    cu_q: Tensor | None
    cu_k: Tensor | None
    max_q: int
    max_k: int
    causal: bool
    left: int
    right: int
    softcap: float
    scale: float | None
    dropout_p: float
    score_mod: str
    backend: str
    deterministic: bool

    @property
    def options(self) -> Options:
        return Options(
            self.causal,
            (self.left, self.right),
            self.softcap,
            self.scale,
            self.alibi_slopes,
            self.sinks,
            self.dropout_p,
            self.seed,
            of_key(self.score_mod),
        )

    @property
    def sequences(self) -> Sequences | None:
        if self.cu_q is None or self.cu_k is None:
            return None
        return Sequences(self.cu_q, self.cu_k, self.max_q, self.max_k)

    def problem(self) -> Problem:
        return prepare(self.q, self.k, self.v, self.options, self.sequences)

    def checked(self) -> Problem:
        return check(self.q, self.k, self.v, self.options, self.sequences)


_ARGUMENTS = (
    "Tensor q, Tensor k, Tensor v, Tensor? alibi_slopes, Tensor? sinks, Tensor? seed, Tensor? cu_q,"
    " Tensor? cu_k, SymInt max_q, SymInt max_k, bool causal, int left, int right, float softcap,"
    " float? scale, float dropout_p, str score_mod, str backend, bool deterministic"
)


def _forward(*arguments: Any) -> tuple[Tensor, Tensor]:
    call = _Call(*arguments)
    problem = call.problem()
    _tell_or_refuse_if_large(problem)
    return choose(problem, call.backend or None).forward(problem)


def _fake(*arguments: Any) -> tuple[Tensor, Tensor]:
    problem = _Call(*arguments).checked()
    return problem.new_out(), problem.new_lse()


def _tell_or_refuse_if_large(problem: Problem) -> None:
    products = problem.batch * problem.heads * problem.queries * problem.keys * (problem.dim + problem.v_dim)
    if not problem.q.is_cuda and products > MOST_PRODUCTS_ON_CPU:
        raise FlashpathError(
            f"attention got {products:,} multiply-adds on the CPU; the virtual GPU takes up to "
            f"{MOST_PRODUCTS_ON_CPU:,}.",
            "Move the tensors to a GPU (q.cuda()), or give backend='reference', which torch computes.",
        )
    tell_if_slow("attention", problem.q, products=products)


def _gradients(dout: Tensor, dlse: Tensor | None, out: Tensor, lse: Tensor, *arguments: Any) -> Any:
    call = _Call(*arguments)
    problem = call.problem()
    got = choose(problem, call.backend or None).backward(
        problem, out, lse, dout.contiguous(), dlse, deterministic=call.deterministic
    )
    dsinks = problem.q.new_empty(0) if got.dsinks is None else got.dsinks
    return got.dq.contiguous(), got.dk.contiguous(), got.dv.contiguous(), dsinks


def _gradients_fake(_dout: Tensor, _dlse: Tensor | None, _out: Tensor, _lse: Tensor, *arguments: Any) -> Any:
    call = _Call(*arguments)
    q, k, v = (each.new_empty(each.shape) for each in (call.q, call.k, call.v))
    return q, k, v, q.new_empty(0) if call.sinks is None else call.sinks.new_empty(call.sinks.shape)


_attention_gradients: Any = define(
    "attention_backward",
    f"(Tensor dout, Tensor? dlse, Tensor out, Tensor lse, {_ARGUMENTS}) -> (Tensor, Tensor, Tensor, Tensor)",
    _gradients,
    _gradients_fake,
)


def _save(ctx: Any, inputs: Sequence[Any], output: tuple[Tensor, Tensor]) -> None:
    call = _Call(*inputs)
    ctx.save_for_backward(*call[:8], *output)
    ctx.rest = call[8:]
    ctx.set_materialize_grads(False)


def _vjp(ctx: Any, dout: Tensor | None, dlse: Tensor | None) -> tuple[Tensor | None, ...]:
    *inputs, out, lse = ctx.saved_tensors
    call = _Call(*inputs, *ctx.rest)
    dout = torch.zeros_like(out) if dout is None else dout
    if torch.is_grad_enabled():
        dq, dk, dv, dsinks = _differentiable_gradients(call, dout, dlse)
    else:
        dq, dk, dv, dsinks = _attention_gradients(dout, dlse, out, lse, *call)
    return dq, dk, dv, None, None if call.sinks is None else dsinks, *[None] * (len(call) - 5)


def _differentiable_gradients(call: _Call, dout: Tensor, dlse: Tensor | None) -> Sequence[Tensor | None]:
    out, lse = formula(call.q, call.k, call.v, call.options, call.sequences, dtype=torch.float32)
    outputs, grads = [out], [dout.float()]
    if dlse is not None:
        outputs.append(lse)
        grads.append(dlse)
    inputs = [call.q, call.k, call.v, *([] if call.sinks is None else [call.sinks])]
    wanted = [each for each in inputs if each.requires_grad]
    got = iter(torch.autograd.grad(outputs, wanted, grads, create_graph=True, allow_unused=True))
    found = [next(got) if each.requires_grad else None for each in inputs]
    return [*found, *[None] * (4 - len(found))]


_attention: Any = define("attention", f"({_ARGUMENTS}) -> (Tensor, Tensor)", _forward, _fake, _vjp, _save)


# ---- The public functions --------------------------------------------------------------------------------


def _run(
    name: str,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    sequences: Sequences | None,
    *,
    causal: bool,
    window: tuple[int, int] | None,
    softcap: float,
    scale: float | None,
    alibi_slopes: Tensor | None,
    sinks: Tensor | None,
    dropout_p: float,
    score_mod: Any,
    return_lse: bool,
    deterministic: bool,
    backend: str | None,
) -> Any:
    require_tensors(name, q=q, k=k, v=v)
    for key, value in (
        ("softcap", softcap),
        ("dropout_p", dropout_p),
        ("scale", 1.0 if scale is None else scale),
    ):
        require_number(name, key, value)
    mod = score_mod if score_mod is None or isinstance(score_mod, ScoreMod) else of_triton(score_mod)
    left, right = (-1, -1) if window is None else window
    seed = None
    if dropout_p:
        seed = torch.randint(0, 2**63 - 1, (1,), dtype=torch.int64, device=q.device)
    sinks = None if sinks is None else sinks.float()
    if backend == "reference":
        options = Options(causal, (left, right), softcap, scale, alibi_slopes, sinks, dropout_p, seed, mod)
        check(q, k, v, options, sequences, _ANY_FLOAT)
        wide = torch.float64 if q.dtype == torch.float64 else torch.float32
        out, lse = formula(q, k, v, options, sequences, dtype=wide)
        out = out.to(q.dtype)
    else:
        out, lse = _attention(
            *(q, k, v, alibi_slopes, sinks, seed),
            *((None, None, 0, 0) if sequences is None else sequences.bounds),
            *(causal, left, right, float(softcap), scale, float(dropout_p)),
            *("" if mod is None else mod.key, backend or "", deterministic),
        )
    return (out, lse) if return_lse else out


def attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    causal: bool = False,
    window: tuple[int, int] | None = None,
    softcap: float = 0.0,
    scale: float | None = None,
    alibi_slopes: Tensor | None = None,
    sinks: Tensor | None = None,
    dropout_p: float = 0.0,
    score_mod: Any = None,
    return_lse: bool = False,
    deterministic: bool = False,
    backend: str | None = None,
) -> Any:
    """softmax(scale · q kᵀ) v of every head, with gradients for q, k, v and the sinks.

    q: (batch, queries, heads, dim), k: (batch, keys, kv_heads, dim), v: (batch, keys, kv_heads, v_dim), all
    float16 or bfloat16; the heads of q are a multiple of those of k and v, which they share in turn.

    The last query stands at the last key: `causal` and `window` = (left, right), both ends included, -1 for
    no bound, count from there. softcap · tanh(score / softcap) limits the scores; `alibi_slopes` (heads) or
    (batch, heads) take slope · distance from them; `score_mod` is a ScoreMod or a `@triton.jit` function of
    (score, batch, head, query, key); `sinks` (heads) are scores of keys without a value. A query that sees
    no key gives 0.

    With return_lse also the logarithm of the sum of e^score: float32, (batch, heads, queries). With
    `deterministic` the gradients have the same bits every time. `backend`: triton, cuda, reference (torch,
    any float type, whole score matrices), or None for the fastest. On CPU tensors the virtual GPU runs.
    """
    return _run(
        "attention",
        q,
        k,
        v,
        None,
        causal=causal,
        window=window,
        softcap=softcap,
        scale=scale,
        alibi_slopes=alibi_slopes,
        sinks=sinks,
        dropout_p=dropout_p,
        score_mod=score_mod,
        return_lse=return_lse,
        deterministic=deterministic,
        backend=backend,
    )


def attention_varlen(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    cu_seqlens_q: Tensor,
    cu_seqlens_k: Tensor,
    max_seqlen_q: int,
    max_seqlen_k: int,
    *,
    causal: bool = False,
    window: tuple[int, int] | None = None,
    softcap: float = 0.0,
    scale: float | None = None,
    alibi_slopes: Tensor | None = None,
    sinks: Tensor | None = None,
    dropout_p: float = 0.0,
    score_mod: Any = None,
    return_lse: bool = False,
    deterministic: bool = False,
    backend: str | None = None,
) -> Any:
    """`attention` of several sequences that follow each other in tensors of (tokens, heads, dim).

    Sequence b has the queries from cu_seqlens_q[b] to cu_seqlens_q[b + 1] and the keys from cu_seqlens_k[b]
    to cu_seqlens_k[b + 1]: int32, on the device of q. LSE is (heads, tokens). All else is as in `attention`.
    """
    require_tensors("attention_varlen", cu_seqlens_q=cu_seqlens_q, cu_seqlens_k=cu_seqlens_k)
    sequences = Sequences(cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k)
    return _run(
        "attention_varlen",
        q,
        k,
        v,
        sequences,
        causal=causal,
        window=window,
        softcap=softcap,
        scale=scale,
        alibi_slopes=alibi_slopes,
        sinks=sinks,
        dropout_p=dropout_p,
        score_mod=score_mod,
        return_lse=return_lse,
        deterministic=deterministic,
        backend=backend,
    )


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
    backend: str | None = None,
) -> Any:
    """A step of decoding: new queries against a cache of keys and values, which the step's own are added to.

    q: (batch, queries, heads, dim). The cache: (batch, capacity, kv_heads, dim), or with `page_table` (batch,
    pages), int32, (pages, page_size, kv_heads, dim). Sequence b has cache_seqlens[b] keys in it. `k` and `v`:
    (batch, new, kv_heads, dim), written behind them, in place. `rotary_cos` and `rotary_sin` (positions, pairs)
    rotate q and k on the way: interleaved pairs, or the two halves of the first 2 · pairs elements.

    Keys are read by `num_splits` blocks for each head, None for as many as the GPU wants. The options are those
    of `attention`, without dropout; there is no gradient. With return_lse also LSE, (batch, heads, queries).
    """
    require_tensors("attention_decode", q=q, k_cache=k_cache, v_cache=v_cache)
    if isinstance(cache_seqlens, int):
        cache_seqlens = torch.full((q.shape[0],), cache_seqlens, dtype=torch.int32, device=q.device)
    mod = score_mod if score_mod is None or isinstance(score_mod, ScoreMod) else of_triton(score_mod)
    options = Options(
        causal, window, softcap, scale, alibi_slopes, None if sinks is None else sinks.float(), score_mod=mod
    )
    if (rotary_cos is None) != (rotary_sin is None):
        raise FlashpathError(
            "attention_decode got only one of rotary_cos and rotary_sin.", "Give both, or none of them."
        )
    rotary = None if rotary_cos is None else Rotary(rotary_cos, rotary_sin, rotary_interleaved)
    cache = Cache(k_cache, v_cache, cache_seqlens, page_table, cache_batch_idx, cache_leftpad)
    step = prepare_step(q.detach(), cache, k, v, rotary, options)
    if backend not in (None, "triton", "reference"):
        raise FlashpathError(f"attention_decode got backend={backend!r}.", "It knows triton and reference.")
    if backend == "reference":
        out, lse = (
            each.to(kind) for each, kind in zip(reference_decode(step), (q.dtype, torch.float32), strict=True)
        )
    else:
        out, lse = triton_decode.decode(step, num_splits)
    return (out, lse) if return_lse else out


def merge_states(a: Tensor, a_lse: Tensor, b: Tensor, b_lse: Tensor) -> tuple[Tensor, Tensor]:
    """Two attentions of the same queries over different keys, as one over all of them: (out, lse).

    a, b: (batch, queries, heads, dim) and a_lse, b_lse: (batch, heads, queries), as `attention` gives them with
    return_lse. A sink is in both where both calls were given it: give it to one of them.
    """
    require_tensors("merge_states", a=a, a_lse=a_lse, b=b, b_lse=b_lse)
    for name, x, lse in (("a", a, a_lse), ("b", b, b_lse)):
        wanted = (a.shape[0], a.shape[2], a.shape[1]) if a.dim() == 4 else ()
        if (
            x.shape != a.shape
            or x.dtype != a.dtype
            or tuple(lse.shape) != wanted
            or lse.dtype != torch.float32
        ):
            raise FlashpathError(
                f"merge_states got {name} of shape {tuple(x.shape)} and its lse of {tuple(lse.shape)}.",
                "Both must be (batch, queries, heads, dim) of one type, and their lse (batch, heads, queries), "
                "float32.",
            )
    return triton_decode.merge_states(a.contiguous(), a_lse.contiguous(), b.contiguous(), b_lse.contiguous())
