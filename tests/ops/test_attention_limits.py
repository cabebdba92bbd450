"""How large calls of attention on CPU tensors may be: the work that is done is counted, and memory too."""

# pyright: basic, reportCallIssue=false, reportArgumentType=false

from __future__ import annotations

import resource
from typing import Any

import pytest
import torch

import flashpath as fp
from flashpath.kernels.attention import reference
from flashpath.kernels.attention.decode.cache import Cache, prepare_step
from flashpath.kernels.attention.problem import Options, Problem, Sequences, block_pairs, visible_pairs
from flashpath.ops import limits


def like(*shape: int) -> Any:
    """A tensor of this shape in the memory of one row."""
    return torch.zeros(shape[-1], dtype=torch.bfloat16).expand(shape)


def whole(*numbers: int) -> Any:
    return torch.tensor(numbers, dtype=torch.int32)


@pytest.mark.parametrize("window", [(-1, -1), (-1, 0), (40, 0), (5, 9), (0, 0), (1000, 1000)])
@pytest.mark.parametrize(("queries", "keys"), [(1, 700), (300, 300), (300, 20), (0, 5), (5, 0)])
def test_pairs_that_kernels_compute(window: tuple[int, int], queries: int, keys: int) -> None:
    seen = visible_pairs(queries, keys, *window)
    assert block_pairs(queries, keys, *window, block=1) == seen
    assert seen <= block_pairs(queries, keys, *window) <= queries * keys


def test_a_window_costs_its_width() -> None:
    q = like(1, 2**20, 1, 64)
    full = limits.attention_products(Problem(q, q, q, Options()))
    windowed = limits.attention_products(Problem(q, q, q, Options(window=(100, 0))))
    assert full == 2**40 * 128
    assert windowed < 2**20 * (100 + 128) * 128
    x = torch.randn(1, 8192, 4, 64).bfloat16()
    with pytest.raises(fp.FlashpathError, match=r"34,359,738,368 multiply-adds on the CPU.*4,294,967,296"):
        fp.attention(x, x, x)
    with pytest.warns(fp.ops.SlowOnCpu):
        out = fp.attention(x, x, x, window=(8, 0))
    exact, _ = reference.formula(x[:, -64:, :1], x[:, -72:, :1], x[:, -72:, :1], Options(window=(8, 0)))
    torch.testing.assert_close(out[:, -64:, :1].double(), exact, rtol=1e-2, atol=1e-2)


def test_sequences_cost_what_they_are_long() -> None:
    """Not what the longest is."""
    x, cu = like(5000, 2, 16), whole(0, 4000, *range(4001, 5001))
    found = limits.attention_products(Problem(x, x, x, Options(), Sequences(cu, cu, 4000, 4000)))
    assert found == 2 * (4000**2 + 1000) * 32
    x, cu = like(4000, 16, 128), whole(0, 4000)
    with pytest.raises(fp.FlashpathError, match=r"attention_varlen got .* multiply-adds"):
        fp.attention_varlen(x, x, x, cu, cu, 4000, 4000)


def test_a_step_of_decoding_has_the_same_limit() -> None:
    q, cache = like(64, 1, 32, 128), like(64, 2**14, 32, 128)
    for name in (None, "cuda", "triton"):
        with pytest.raises(fp.FlashpathError, match="attention_decode got 8,589,934,592 multiply-adds"):
            fp.attention_decode(q, cache, cache, cache_seqlens=2**14, backend=name)
    step = prepare_step(q, Cache(cache, cache, torch.full((64,), 70, dtype=torch.int32)))
    assert limits.decode_products(step) == 64 * 32 * 70 * 256  # what is there, not what there is room for
    windowed = prepare_step(q, step.cache, options=Options(window=(6, 0)))
    assert limits.decode_products(windowed) == 64 * 32 * 7 * 256


def test_the_reference_holds_few_scores_at_a_time() -> None:
    """2^28 scores in float32 would be 1 GiB, and several times that on their way."""
    x = torch.randn(1, 2**13, 4, 16)
    exact, _ = reference.formula(x[:, -9:], x, x, Options(causal=True))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    out = fp.attention(x, x, x, causal=True, backend="reference")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 512 * 1024
    torch.testing.assert_close(out[:, -9:].double(), exact, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("at_once", [1, 50, 10_000])
def test_the_formula_is_the_same_in_parts(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    q, k, v = (torch.randn(2, n, heads, 8, dtype=torch.float64) for n, heads in ((13, 4), (17, 2), (17, 2)))
    options = Options(
        causal=True,
        softcap=2.0,
        alibi_slopes=torch.rand(2, 4),
        sinks=torch.rand(4),
        dropout_p=0.2,
        seed=torch.tensor([5]),
    )
    together = reference.formula(q, k, v, options)
    monkeypatch.setattr(reference, "_AT_ONCE_ON_CPU", at_once)
    for got, exact in zip(reference.formula(q, k, v, options), together, strict=True):
        torch.testing.assert_close(got, exact)


def test_gradients_that_would_not_fit_into_memory() -> None:
    x = torch.zeros(1, 8192, 8, 64, dtype=torch.bfloat16).requires_grad_()
    words = r"(?s)attention got 536,870,912 scores.*16.0 GiB.*up to 8 GiB.*no_grad"
    with pytest.raises(fp.FlashpathError, match=words):
        fp.attention(x, x, x, backend="reference")
    flat, cu = x[0], whole(0, 8192)
    with pytest.raises(fp.FlashpathError, match="attention_varlen got 536,870,912 scores"):
        fp.attention_varlen(flat, flat, flat, cu, cu, 8192, 8192, backend="reference")
    in_parts = whole(*range(0, 8193, 64))
    limits.require_memory_for_gradients(
        Problem(flat, flat, flat, Options(), Sequences(in_parts, in_parts, 64, 64)), torch.float32
    )


def test_second_gradients_have_the_limit_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MOST_KEPT_BYTES_ON_CPU", 1000)
    x = torch.randn(1, 16, 2, 16).bfloat16().requires_grad_()
    out = fp.attention(x, x, x)
    torch.autograd.grad(out.sum(), x, retain_graph=True)  # by kernels
    with pytest.raises(fp.FlashpathError, match="512 scores to differentiate"):
        torch.autograd.grad(out.sum(), x, create_graph=True)
