"""`attention`, `attention_varlen`, `attention_decode` and `merge_states` as operators."""

# pyright: basic, reportCallIssue=false, reportArgumentType=false

from __future__ import annotations

import functools
from typing import Any

import pytest
import torch
import triton
import triton.language as tl

import flashpath as fp
from flashpath import ops
from flashpath.errors import FlashpathError
from flashpath.kernels.attention.problem import Options, Sequences
from flashpath.kernels.attention.reference import formula
from flashpath.kernels.attention.score_mod import ScoreMod
from tests.harness.operator_contract import DEVICES, check_compiled, check_graph, check_operator

HALF = torch.float16


@triton.jit
def no_neighbours(score, batch, head, query, key):
    return tl.where(query == key + 1, float("-inf"), score)


def tensors(device: str = "cpu", queries: int = 20, keys: int = 33) -> list[Any]:
    generator = torch.Generator().manual_seed(3)
    shapes = [(1, queries, 2, 16), (1, keys, 1, 16), (1, keys, 1, 24)]
    return [torch.randn(shape, generator=generator).to(device, HALF) for shape in shapes]


def gradients(function: Any, inputs: list[Any], seed: int = 4) -> list[Any]:
    leaves = [each.detach().clone().requires_grad_() for each in inputs]
    out = function(*leaves)
    dout = torch.randn(out.shape, generator=torch.Generator().manual_seed(seed)).to(out)
    return [out, *torch.autograd.grad(out, leaves, dout)]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("backend", [None, "triton"])
def test_results_and_gradients(device: str, backend: str | None) -> None:
    inputs = tensors(device)
    ours = gradients(lambda *x: fp.attention(*x, causal=True, softcap=4.0, backend=backend), inputs)
    exact = gradients(
        lambda *x: formula(*x, Options(causal=True, softcap=4.0))[0], [each.double() for each in inputs]
    )
    for got, truth in zip(ours, exact, strict=True):
        torch.testing.assert_close(got.double(), truth, rtol=5e-3, atol=5e-3)


@pytest.mark.parametrize("device", DEVICES)
def test_several_sequences(device: str) -> None:
    q, k, v = (each[0] for each in tensors(device))
    cu_q = torch.tensor([0, 7, 7, 20], dtype=torch.int32, device=device)
    cu_k = torch.tensor([0, 5, 13, 33], dtype=torch.int32, device=device)
    ours = gradients(
        lambda *x: fp.attention_varlen(*x, cu_q, cu_k, 13, 20, causal=True, backend="triton"), [q, k, v]
    )
    bounds = Sequences(cu_q, cu_k, 13, 20)
    exact = gradients(
        lambda *x: formula(*x, Options(causal=True), bounds)[0], [each.double() for each in (q, k, v)]
    )
    for got, truth in zip(ours, exact, strict=True):
        torch.testing.assert_close(got.double(), truth, rtol=5e-3, atol=5e-3)


def test_the_gradient_of_the_lse_and_of_the_sinks() -> None:
    q, k, v = tensors()
    sinks = torch.randn(2)
    leaves = [q, k, v, sinks]

    def loss(function: Any, *inputs: Any) -> Any:
        *qkv, s = inputs
        out, lse = function(*qkv, s)
        return (out.double() * torch.linspace(0, 1, out.numel()).view_as(out)).sum() + (
            lse.double() ** 2
        ).sum()

    ours = [each.clone().requires_grad_() for each in leaves]
    loss(
        lambda q, k, v, s: fp.attention(q, k, v, sinks=s, return_lse=True, backend="triton"), *ours
    ).backward()
    exact = [each.double().requires_grad_() for each in leaves]
    loss(lambda q, k, v, s: formula(q, k, v, Options(sinks=s)), *exact).backward()
    for got, truth in zip(ours, exact, strict=True):
        torch.testing.assert_close(got.grad.double(), truth.grad, rtol=1e-2, atol=1e-2)


def test_a_function_of_ones_own() -> None:
    q, k, v = tensors(queries=20, keys=20)

    def in_torch(score: Any, _batch: Any, _head: Any, query: Any, key: Any) -> Any:
        return torch.where(query == key + 1, torch.full_like(score, -torch.inf), score)

    exact = formula(q, k, v, Options(score_mod=ScoreMod("same", in_torch)))[0]
    torch.testing.assert_close(
        fp.attention(q, k, v, score_mod=no_neighbours).double(), exact, rtol=5e-3, atol=5e-3
    )
    with pytest.raises(FlashpathError, match="no form for cuda; it has triton"):
        fp.attention(q, k, v, score_mod=no_neighbours, backend="cuda")


@pytest.mark.parametrize("device", DEVICES)
def test_an_operator_in_every_sense(device: str) -> None:
    q, k, v = tensors(device)
    nothing = (None, None, 0, 0)
    check_operator(
        "attention",
        *(q.requires_grad_(), k, v, None, None, None, *nothing),
        *(True, -1, -1, 0.0, None, 0.0, "", "triton", True),
    )
    check_compiled(
        lambda q, k, v: fp.attention(q, k, v, causal=True, deterministic=True, backend="triton"),
        *tensors(device),
    )


def test_dropout_draws_anew_and_keeps_its_draw_for_the_gradient() -> None:
    q, k, v = tensors()
    torch.manual_seed(5)
    first, second = (fp.attention(q, k, v, dropout_p=0.5, backend="triton") for _ in range(2))
    assert not torch.equal(first, second)
    torch.manual_seed(5)
    again = fp.attention(q, k, v, dropout_p=0.5, backend="triton")
    assert torch.equal(first, again)
    # out is linear in v: with the same draw, its gradient along v is out itself.
    torch.manual_seed(5)
    leaf = v.clone().requires_grad_()
    out = fp.attention(q, k, leaf, dropout_p=0.5, backend="triton")
    (dv,) = torch.autograd.grad(out, leaf, torch.ones_like(out))
    along = (dv.double() * v.double()).sum()
    torch.testing.assert_close(along, out.double().sum(), rtol=5e-3, atol=5e-2)


def test_dropout_by_a_seed_of_ones_own() -> None:
    q, k, v = tensors()
    seed = torch.tensor([77])
    before = torch.get_rng_state()
    first, again = (fp.attention(q, k, v, dropout_p=0.5, dropout_seed=seed) for _ in range(2))
    assert torch.equal(first, again)
    assert torch.equal(torch.get_rng_state(), before)
    exact = fp.attention(q, k, v, dropout_p=0.5, dropout_seed=seed, backend="reference")
    torch.testing.assert_close(first, exact, rtol=5e-3, atol=5e-3)
    with pytest.raises(fp.FlashpathError, match="int64"):
        fp.attention(q, k, v, dropout_p=0.5, dropout_seed=seed.int())


def test_a_gradient_can_be_differentiated_again() -> None:
    leaves = [each.requires_grad_() for each in tensors(queries=4, keys=5)]
    out = fp.attention(*leaves, causal=True, backend="triton")
    (dq,) = torch.autograd.grad(out.float().sum(), leaves[0], create_graph=True)
    (again,) = torch.autograd.grad(dq.float().pow(2).sum(), leaves[0])
    assert again.isfinite().all()
    assert again.abs().max() > 0


def test_the_reference_backend_takes_float64_and_passes_gradcheck() -> None:
    inputs = [each.double()[:, :4].requires_grad_() for each in tensors()]
    assert torch.autograd.gradcheck(lambda *x: fp.attention(*x, causal=True, backend="reference"), inputs)


def test_large_problems_on_the_cpu_are_told_or_refused() -> None:
    q, k, v = (torch.zeros(1, 1, 1, 256, dtype=HALF).expand(1, n, 8, 256) for n in (4096, 4096, 4096))
    with pytest.raises(FlashpathError, match="backend='reference'"):
        fp.attention(q, k, v)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"backend": "cudnn"}, "triton, cuda and reference"),
        ({"softcap": "much"}, "must be a number"),
        ({"window": (-3, 0)}, "no bound"),
        ({"dropout_p": 1.5}, "0 <= p < 1"),
        ({"alibi_slopes": torch.zeros(7)}, "alibi_slopes"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(FlashpathError, match=words):
        fp.attention(*tensors(), **options)


def test_float32_is_refused_with_the_types_there_are() -> None:
    with pytest.raises(FlashpathError, match="float16 or bfloat16"):
        fp.attention(*(each.float() for each in tensors()))


# ---- Decoding and merging --------------------------------------------------------------------------------


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("backend", [None, "triton", "cuda"])
def test_a_step_of_decoding(backend: str | None, device: str) -> None:
    q, k, v = tensors(device, queries=1, keys=33)
    lengths = torch.tensor([30], dtype=torch.int32, device=device)
    caches = [torch.zeros_like(each) for each in (k, v)]
    for cache, each in zip(caches, (k, v), strict=True):
        cache[:, :30] = each[:, :30]
    new = [each[:, 30:] for each in (k, v)]
    out, lse = fp.attention_decode(
        q, *caches, cache_seqlens=lengths, k=new[0], v=new[1], return_lse=True, backend=backend
    )
    assert torch.equal(caches[0], k)
    assert torch.equal(caches[1], v)
    exact, exact_lse = formula(q, k, v)
    torch.testing.assert_close(out.double(), exact, rtol=5e-3, atol=5e-3)
    torch.testing.assert_close(lse.double(), exact_lse, rtol=1e-5, atol=1e-5)
    same = fp.attention_decode(q, *caches, cache_seqlens=33, backend="reference")
    torch.testing.assert_close(out, same, rtol=5e-3, atol=5e-3)


@pytest.mark.parametrize("backend", ["triton", "cuda"])
def test_decoding_is_an_operator_that_writes_to_its_cache(backend: str) -> None:
    q, k, v = tensors(queries=1, keys=9)
    caches = [torch.zeros(1, 40, 1, width, dtype=HALF) for width in (16, 24)]
    lengths = torch.tensor([5], dtype=torch.int32)
    arguments = (
        *(q, *caches, lengths, k, v, None, None, True, None, None, None, None, True, -1, -1),
        *(0.0, None, None, None, "", backend),
    )
    library: Any = torch.library
    library.opcheck(torch.ops.flashpath.attention_decode.default, arguments)
    compiler: Any = torch
    compiled = compiler.compile(
        lambda *x: fp.attention_decode(*x, cache_seqlens=lengths, k=k, v=v, backend=backend),
        fullgraph=True,
        backend="aot_eager",
    )
    apart = [each.clone() for each in caches]
    plainly = fp.attention_decode(q, *caches, cache_seqlens=lengths, k=k, v=v, backend=backend)
    assert torch.equal(compiled(q, *apart), plainly)
    assert torch.equal(apart[0], caches[0])


def test_decoding_takes_the_backends_there_are() -> None:
    q, k, v = tensors(queries=1)
    with pytest.raises(FlashpathError, match="triton, cuda and reference"):
        fp.attention_decode(q, k, v, cache_seqlens=33, backend="cudnn")
    # A cache that CUDA C++ cannot read goes to Triton, unless CUDA C++ is asked for.
    wide = torch.zeros(1, 33, 1, 17, dtype=HALF)
    wide[..., 1:] = k
    exact, _ = formula(q, k, v)
    out = fp.attention_decode(q, wide[..., 1:], v, cache_seqlens=33)
    torch.testing.assert_close(out.double(), exact, rtol=5e-3, atol=5e-3)
    with pytest.raises(FlashpathError, match="16 bytes"):
        fp.attention_decode(q, wide[..., 1:], v, cache_seqlens=33, backend="cuda")


def test_merged_states_and_their_gradients() -> None:
    generator = torch.Generator().manual_seed(6)
    a, b = (torch.randn(1, 3, 2, 8, generator=generator, dtype=torch.float32).half() for _ in range(2))
    a_lse, b_lse = (torch.randn(1, 2, 3, generator=generator) for _ in range(2))
    inputs = [a, a_lse, b, b_lse]

    def exactly(a: Any, a_lse: Any, b: Any, b_lse: Any) -> tuple[Any, Any]:
        lse = torch.logaddexp(a_lse, b_lse)
        weights = [torch.exp(each - lse).transpose(1, 2)[..., None] for each in (a_lse, b_lse)]
        return a * weights[0] + b * weights[1], lse

    check_operator("merge_states", *inputs)
    results = []
    for function, leaves in ((ops.merge_states, inputs), (exactly, [each.double() for each in inputs])):
        leaves = [each.clone().requires_grad_() for each in leaves]
        out, lse = function(*leaves)
        loss = (out.double() * torch.arange(out.numel()).view_as(out)).sum() + (3 * lse.double()).sum()
        loss.backward()
        results.append([out, lse, *(each.grad for each in leaves)])
    for got, truth in zip(*results, strict=True):
        torch.testing.assert_close(got.double(), truth.double(), rtol=1e-2, atol=3e-2)
    with pytest.raises(FlashpathError, match="heads, queries"):
        ops.merge_states(a, a_lse.transpose(1, 2), b, b_lse)


@pytest.mark.gpu
def test_in_a_cuda_graph() -> None:
    check_graph(lambda q, k, v: fp.attention(q, k, v, causal=True), *tensors("cuda", 300, 300))
    q, k, v = tensors("cuda", 1, 300)
    lengths = torch.tensor([256], dtype=torch.int32, device="cuda")
    for backend in ("triton", "cuda"):
        decode = functools.partial(fp.attention_decode, cache_seqlens=lengths, backend=backend)
        check_graph(decode, q, k, v)
