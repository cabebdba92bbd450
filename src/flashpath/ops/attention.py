"""`attention`: softmax(q kᵀ) v and its gradients, without ever writing the scores.

Gradients are kernels, which torch cannot differentiate. Where a gradient is to be differentiated again
(create_graph=True) it comes from the formula instead, with all scores in memory, in float32.
"""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, overload

import torch

from flashpath.kernels.attention.dispatch import host_of
from flashpath.kernels.attention.ladder import LADDER
from flashpath.kernels.attention.problem import (
    HALVES,
    Options,
    Problem,
    Sequences,
    check,
    check_bounds,
    prepare,
)
from flashpath.kernels.attention.reference import formula, own_precision
from flashpath.kernels.attention.score_mod import given_mod, key_of, of_key
from flashpath.ops.checking import (
    number,
    refuse,
    require_flag,
    require_tensors,
    require_whole,
    window_sides,
)
from flashpath.ops.limits import attention_products, require_memory_for_gradients, tell_or_refuse_if_large
from flashpath.ops.plans import planned
from flashpath.ops.registration import define

Tensor = torch.Tensor
Backend = Literal["triton", "cuda", "reference"]
_ANY_FLOAT = (*HALVES, "float32", "float64")


class _Call(NamedTuple):
    """The arguments of an operator: options in the types that a schema knows."""

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
    if not problem.q.is_cuda:  # to look at numbers on a GPU is to wait for it
        check_bounds(problem)
        tell_or_refuse_if_large(problem.operator, problem.q, attention_products(problem))
    return host_of(LADDER.best(problem, call.backend or None).rung).forward(problem)


def _fake(*arguments: Any) -> tuple[Tensor, Tensor]:
    problem = _Call(*arguments).checked()
    return problem.new_out(), problem.new_lse()


def _gradients(dout: Tensor, dlse: Tensor | None, out: Tensor, lse: Tensor, *arguments: Any) -> Any:
    call = _Call(*arguments)
    problem = call.problem()
    rung = LADDER.best(problem, call.backend or None, direction="backward").rung
    got = host_of(rung).backward(
        problem,
        out,
        lse,
        dout.contiguous(),
        None if dlse is None else dlse.contiguous(),
        deterministic=call.deterministic,
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
    ctx.mod = of_key(call.score_mod)  # kept alive: the operator has only its key
    ctx.set_materialize_grads(False)


def _vjp(ctx: Any, dout: Tensor | None, dlse: Tensor | None) -> tuple[Tensor | None, ...]:
    *inputs, out, lse = ctx.saved_tensors
    call = _Call(*inputs, *ctx.rest)
    dout = torch.zeros_like(out) if dout is None else dout
    if torch.is_grad_enabled():
        with own_precision(call.q):
            dq, dk, dv, dsinks = _differentiable_gradients(call, dout, dlse)
    else:
        dq, dk, dv, dsinks = _attention_gradients(dout, dlse, out, lse, *call)
    return dq, dk, dv, None, None if call.sinks is None else dsinks, *[None] * (len(call) - 5)


def _differentiable_gradients(call: _Call, dout: Tensor, dlse: Tensor | None) -> Sequence[Tensor | None]:
    if not call.q.is_cuda:
        require_memory_for_gradients(call.checked(), torch.float32)
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


def attention_gradients(
    dout: Tensor,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    out: Tensor,
    lse: Tensor,
    sequences: Sequences | None = None,
    *,
    causal: bool = False,
    window: tuple[int, int] | None = None,
    softcap: float = 0.0,
    scale: float | None = None,
    alibi_slopes: Tensor | None = None,
    dropout_p: float = 0.0,
    dropout_seed: Tensor | None = None,
    deterministic: bool = False,
) -> tuple[Tensor, Tensor, Tensor]:
    """(dq, dk, dv) of a call whose `out` and `lse` are known: for who keeps the books without autograd."""
    name = "attention"
    require_tensors(name, dout=dout, q=q, k=k, v=v, out=out, lse=lse)
    left, right = window_sides(name, window)
    call = _Call(
        *(q, k, v, alibi_slopes, None, dropout_seed),
        *((None, None, 0, 0) if sequences is None else sequences.bounds),
        *(causal, left, right, float(softcap), scale, float(dropout_p), "", "", deterministic),
    )
    problem = call.checked()
    like_out = (*q.shape[:-1], problem.v_dim), q.dtype
    expected = {"dout": like_out, "out": like_out, "lse": (problem.lse_shape, torch.float32)}
    for (key, (shape, dtype)), x in zip(expected.items(), (dout, out, lse), strict=True):
        if tuple(x.shape) != shape or x.dtype != dtype:
            refuse(
                "ops.gradient-input",
                name=name,
                key=key,
                shape=str(tuple(x.shape)),
                dtype=str(x.dtype),
                expected=str(shape),
                expected_dtype=str(dtype),
            )
    dq, dk, dv, _ = _attention_gradients(dout, None, out, lse, *call)
    return dq, dk, dv


# ---- The public functions --------------------------------------------------------------------------------


def new_seed(device: torch.device) -> Tensor:
    """Returns a seed of dropout, drawn from torch's generator of that device."""
    return torch.randint(0, 2**63 - 1, (1,), dtype=torch.int64, device=device)


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
    dropout_seed: Tensor | None,
    score_mod: Any,
    return_lse: bool,
    deterministic: bool,
    backend: str | None,
) -> Any:
    require_tensors(name, q=q, k=k, v=v)
    softcap, dropout_p = number(name, "softcap", softcap), number(name, "dropout_p", dropout_p)
    scale = None if scale is None else number(name, "scale", scale)
    for key, value in (("causal", causal), ("return_lse", return_lse), ("deterministic", deterministic)):
        require_flag(name, key, value)
    given = {"alibi_slopes": alibi_slopes, "sinks": sinks, "dropout_seed": dropout_seed}
    require_tensors(name, **{key: x for key, x in given.items() if x is not None})
    if alibi_slopes is not None and alibi_slopes.requires_grad and torch.is_grad_enabled():
        refuse("ops.alibi-gradient", name=name)
    if backend is not None and not isinstance(backend, str):
        refuse("ops.backend", name=name, backend=f"{backend!r:.80}")
    left, right = window_sides(name, window)
    seed = None
    if dropout_p:
        seed = new_seed(q.device) if dropout_seed is None else dropout_seed
    sinks = None if sinks is None else sinks.float()
    if backend == "reference":
        mod = given_mod(score_mod)
        options = Options(causal, (left, right), softcap, scale, alibi_slopes, sinks, dropout_p, seed, mod)
        problem = check(q, k, v, options, sequences, _ANY_FLOAT)
        wide = torch.float64 if q.dtype == torch.float64 else torch.float32
        if not q.is_cuda:
            check_bounds(problem)
            if torch.is_grad_enabled() and any(x is not None and x.requires_grad for x in (q, k, v, sinks)):
                require_memory_for_gradients(problem, wide)
        out, lse = formula(q, k, v, options, sequences, dtype=wide)
        out = out.to(q.dtype)
    else:
        out, lse = _attention(
            *(q, k, v, alibi_slopes, sinks, seed),
            *((None, None, 0, 0) if sequences is None else sequences.bounds),
            *(causal, left, right, float(softcap), scale, float(dropout_p)),
            *(key_of(score_mod), backend or "", deterministic),
        )
    return (out, lse) if return_lse else out


@overload
def attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    causal: bool = ...,
    window: tuple[int, int] | None = ...,
    softcap: float = ...,
    scale: float | None = ...,
    alibi_slopes: Tensor | None = ...,
    sinks: Tensor | None = ...,
    dropout_p: float = ...,
    dropout_seed: Tensor | None = ...,
    score_mod: Any = ...,
    return_lse: Literal[False] = False,
    deterministic: bool = False,
    backend: Backend | None = ...,
) -> Tensor: ...
@overload
def attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    causal: bool = ...,
    window: tuple[int, int] | None = ...,
    softcap: float = ...,
    scale: float | None = ...,
    alibi_slopes: Tensor | None = ...,
    sinks: Tensor | None = ...,
    dropout_p: float = ...,
    dropout_seed: Tensor | None = ...,
    score_mod: Any = ...,
    return_lse: Literal[True],
    deterministic: bool = False,
    backend: Backend | None = ...,
) -> tuple[Tensor, Tensor]: ...
@overload
def attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    causal: bool = ...,
    window: tuple[int, int] | None = ...,
    softcap: float = ...,
    scale: float | None = ...,
    alibi_slopes: Tensor | None = ...,
    sinks: Tensor | None = ...,
    dropout_p: float = ...,
    dropout_seed: Tensor | None = ...,
    score_mod: Any = ...,
    return_lse: bool,
    deterministic: bool = False,
    backend: Backend | None = ...,
) -> Tensor | tuple[Tensor, Tensor]: ...
@planned
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
    dropout_seed: Tensor | None = None,
    score_mod: Any = None,
    return_lse: bool = False,
    deterministic: bool = False,
    backend: Backend | None = None,
) -> Any:
    """softmax(scale · q kᵀ) v of every head, with gradients for q, k, v and the sinks.

    q: (batch, queries, heads, dim), k: (batch, keys, kv_heads, dim), v: (batch, keys, kv_heads, v_dim), all
    float16 or bfloat16; the heads of q are a multiple of those of k and v, which they share in turn.

    The last query stands at the last key: `causal` and `window` = (left, right), both ends included, -1 for
    no bound, count from there. softcap · tanh(score / softcap) limits the scores; `alibi_slopes` (heads) or
    (batch, heads) take slope · distance from them, and have no
    gradient; `score_mod` is a ScoreMod or a `@triton.jit` function of
    (score, batch, head, query, key), whose gradient is taken for 1, as for what adds to a score or hides it:
    for others a ScoreMod has derivatives; `sinks` (heads) are scores of keys without a value. A query that
    sees no key gives 0.

    Dropout takes its weights away as `dropout_seed` says: int64, (1), on the device of q; None draws one from
    torch's generator. With return_lse also the logarithm of the sum of e^score: float32, (batch, heads,
    queries). With `deterministic` the gradients have the same bits every time. `backend`: triton, cuda,
    reference (torch, any float type; for gradients it keeps all scores), or None for the fastest. On CPU
    tensors the virtual GPU runs, and what would take it too long is refused.
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
        dropout_seed=dropout_seed,
        score_mod=score_mod,
        return_lse=return_lse,
        deterministic=deterministic,
        backend=backend,
    )


@overload
def attention_varlen(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    cu_seqlens_q: Tensor,
    cu_seqlens_k: Tensor,
    max_seqlen_q: int,
    max_seqlen_k: int,
    *,
    causal: bool = ...,
    window: tuple[int, int] | None = ...,
    softcap: float = ...,
    scale: float | None = ...,
    alibi_slopes: Tensor | None = ...,
    sinks: Tensor | None = ...,
    dropout_p: float = ...,
    dropout_seed: Tensor | None = ...,
    score_mod: Any = ...,
    return_lse: Literal[False] = False,
    deterministic: bool = False,
    backend: Backend | None = ...,
) -> Tensor: ...
@overload
def attention_varlen(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    cu_seqlens_q: Tensor,
    cu_seqlens_k: Tensor,
    max_seqlen_q: int,
    max_seqlen_k: int,
    *,
    causal: bool = ...,
    window: tuple[int, int] | None = ...,
    softcap: float = ...,
    scale: float | None = ...,
    alibi_slopes: Tensor | None = ...,
    sinks: Tensor | None = ...,
    dropout_p: float = ...,
    dropout_seed: Tensor | None = ...,
    score_mod: Any = ...,
    return_lse: Literal[True],
    deterministic: bool = False,
    backend: Backend | None = ...,
) -> tuple[Tensor, Tensor]: ...
@overload
def attention_varlen(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    cu_seqlens_q: Tensor,
    cu_seqlens_k: Tensor,
    max_seqlen_q: int,
    max_seqlen_k: int,
    *,
    causal: bool = ...,
    window: tuple[int, int] | None = ...,
    softcap: float = ...,
    scale: float | None = ...,
    alibi_slopes: Tensor | None = ...,
    sinks: Tensor | None = ...,
    dropout_p: float = ...,
    dropout_seed: Tensor | None = ...,
    score_mod: Any = ...,
    return_lse: bool,
    deterministic: bool = False,
    backend: Backend | None = ...,
) -> Tensor | tuple[Tensor, Tensor]: ...
@planned
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
    dropout_seed: Tensor | None = None,
    score_mod: Any = None,
    return_lse: bool = False,
    deterministic: bool = False,
    backend: Backend | None = None,
) -> Any:
    """`attention` of several sequences that follow each other in tensors of (tokens, heads, dim).

    Sequence b has the queries from cu_seqlens_q[b] to cu_seqlens_q[b + 1] and the keys from cu_seqlens_k[b]
    to cu_seqlens_k[b + 1]: int32, on the device of q, float16 or bfloat16. They begin with 0, end with the
    number of tokens and never fall, and `max_seqlen_q` and `max_seqlen_k` are no less than the longest
    sequence; on a GPU this is not looked at. LSE is (heads, tokens). All else, gradients too, is as in
    `attention`.
    """
    require_tensors("attention_varlen", cu_seqlens_q=cu_seqlens_q, cu_seqlens_k=cu_seqlens_k)
    require_whole("attention_varlen", "max_seqlen_q", max_seqlen_q)
    require_whole("attention_varlen", "max_seqlen_k", max_seqlen_k)
    longest = (
        min(each, 2**31 - 1) if isinstance(each, int) else each  # bounds are int32: none is longer
        for each in (max_seqlen_q, max_seqlen_k)
    )
    sequences = Sequences(cu_seqlens_q, cu_seqlens_k, *longest)
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
        dropout_seed=dropout_seed,
        score_mod=score_mod,
        return_lse=return_lse,
        deterministic=deterministic,
        backend=backend,
    )
