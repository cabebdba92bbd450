"""Decoding in CUDA C++: every two features together, clean under the sanitizer; plans, dimensions, splits."""

# pyright: basic, reportCallIssue=false

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Any

import pytest
import torch

from flashpath.errors import FlashpathError
from flashpath.kernels.attention.decode import host_cuda, reference
from flashpath.kernels.attention.decode.cache import Cache, prepare_step
from flashpath.kernels.attention.decode.host_cuda import Plan
from flashpath.kernels.attention.problem import Options
from tests.harness.decode_samples import Sample, check_decode, copied, covering, made

SAMPLES = covering()
DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_every_two_features_together(sample: Sample, findings: list[Any]) -> None:
    check_decode(host_cuda.decode, made(sample), sample.splits)
    assert not findings


@pytest.mark.gpu
@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_every_two_features_together_on_a_gpu(sample: Sample) -> None:
    check_decode(host_cuda.decode, made(sample, "cuda"), sample.splits)


@pytest.mark.gpu
@pytest.mark.parametrize("pages", [0, 1, 16, 64])
@pytest.mark.parametrize("dims", [(64, 64), (128, 128), (256, 256), (192, 128)])
@pytest.mark.parametrize("lengths", [(1023, 1), (8192, 5000), (20_000, 40_001)])
def test_long_caches_on_a_gpu(lengths: tuple[int, int], dims: tuple[int, int], pages: int) -> None:
    sample = Sample(lengths=lengths, dims=dims, pages=pages, heads=(32, 8), new=1, mask="causal")
    check_decode(host_cuda.decode, made(sample, "cuda"), None)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dims", [(8, 8), (24, 136), (96, 64), (160, 32), (192, 128), (256, 256)], ids=str)
def test_dimensions(dims: tuple[int, int], device: str) -> None:
    sample = Sample(lengths=(70, 5), dims=dims, pages=16, heads=(2, 1))
    check_decode(host_cuda.decode, made(sample, device), 2)


PLANS = [
    Plan(1, 16, 8, 2, 1),
    Plan(1, 16, 4, 3, 2),
    Plan(1, 16, 2, 4, 1),
    Plan(1, 32, 2, 2, 1),
    Plan(1, 16, 1, 6, 1),
    Plan(2, 32, 2, 2, 1),
    Plan(4, 16, 8, 2, 1),
]


def _check_plan(plan: Plan, pages: int, device: str) -> None:
    """Rings that are longer and shorter than what a warp has; rows of one tile, and of more."""
    decode = functools.partial(host_cuda.decode, plan=plan)
    for lengths, queries, splits in (((230, 20), 1, 2), ((40, 99), 9, 1)):
        sample = Sample(lengths=lengths, queries=queries, pages=pages, heads=(4, 1), mask="causal")
        check_decode(decode, made(sample, device), splits)


@pytest.mark.parametrize("pages", [0, 5])
@pytest.mark.parametrize("plan", PLANS, ids=str)
def test_plans(plan: Plan, pages: int, findings: list[Any]) -> None:
    _check_plan(plan, pages, "cpu")
    assert not findings


@pytest.mark.gpu
@pytest.mark.parametrize("pages", [0, 5])
@pytest.mark.parametrize("plan", PLANS, ids=str)
def test_plans_on_a_gpu(plan: Plan, pages: int) -> None:
    _check_plan(plan, pages, "cuda")


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("pages", [0, 1, 3, 64])
def test_pages_of_any_size(pages: int, device: str) -> None:
    sample = Sample(pages=pages, new=2, rotary="halves", place="padded", mask="causal", queries=2)
    check_decode(host_cuda.decode, made(sample, device), None)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("splits", [None, 1, 3])
def test_an_empty_cache_gives_nothing_or_the_sink(splits: int | None, device: str) -> None:
    step = made(Sample(lengths=(0, 0)), device)
    out, lse = host_cuda.decode(step, splits)
    assert out.abs().max() == 0
    assert (lse == -torch.inf).all()
    sinks = torch.randn(4, device=device)
    out, lse = host_cuda.decode(replace(step, options=Options(sinks=sinks)), splits)
    assert out.abs().max() == 0
    torch.testing.assert_close(lse, sinks[None, :, None].expand(lse.shape))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("scale", [-0.3, 0.0])
def test_scales_that_are_not_positive(scale: float, device: str) -> None:
    step = made(Sample(), device)
    check_decode(host_cuda.decode, replace(step, options=Options(scale=scale)), 2)


def test_splits_change_nothing_but_the_last_bits() -> None:
    results = [host_cuda.decode(made(Sample(lengths=(200, 77))), splits) for splits in (1, 2, 7, 128)]
    for out, lse in results[1:]:
        torch.testing.assert_close(out, results[0][0], rtol=1e-2, atol=1e-2)
        torch.testing.assert_close(lse, results[0][1])


@pytest.mark.parametrize("device", DEVICES)
def test_the_same_bits_every_time(device: str) -> None:
    """Whichever block is the last. The counters are at 0 again after each launch."""
    step = made(Sample(lengths=(200, 130), pages=16), device)
    first = host_cuda.decode(step, 3)
    for _ in range(3 if device == "cpu" else 100):
        assert all(torch.equal(x, y) for x, y in zip(first, host_cuda.decode(step, 3), strict=True))


@pytest.mark.gpu
def test_a_graph_replays_it() -> None:
    step = made(Sample(lengths=(900, 130), pages=16), "cuda")
    out, lse = step.new_out(), step.new_lse()
    expected = host_cuda.decode(step, 5)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        host_cuda.decode(step, 5, out, lse)
    for _ in range(3):
        out.fill_(torch.nan)
        graph.replay()
        assert torch.equal(out, expected[0])
        assert torch.equal(lse, expected[1])


def test_an_output_with_gaps() -> None:
    step = made(Sample())
    wide = torch.full((2, 1, 8, 32), torch.nan, dtype=step.q.dtype)
    host_cuda.decode(step, 2, wide[:, :, ::2])
    assert torch.equal(wide[:, :, ::2], host_cuda.decode(step, 2)[0])
    assert bool(wide[:, :, 1::2].isnan().all())


def test_queries_whose_rows_begin_anywhere() -> None:
    step = made(Sample(dims=(32, 32)))
    wide = torch.zeros(2, 1, 4, 33, dtype=step.q.dtype)
    wide[..., 1:] = step.q
    check_decode(host_cuda.decode, replace(step, q=wide[..., 1:]), None)


def test_what_append_writes() -> None:
    step = made(Sample(new=3, rotary="interleaved", pages=7, queries=2, mask="causal"))
    exactly = copied(step)
    turned = host_cuda.append(step)
    torch.testing.assert_close(turned, reference.append(exactly), rtol=1e-2, atol=1e-2)
    torch.testing.assert_close(step.cache.k, exactly.cache.k, rtol=1e-2, atol=1e-2, equal_nan=True)
    torch.testing.assert_close(step.cache.v, exactly.cache.v, rtol=0, atol=0, equal_nan=True)
    still = made(Sample())
    assert host_cuda.append(still) is still.q


def test_no_queries() -> None:
    cache = Cache(
        *(torch.zeros(2, 8, 1, 16, dtype=torch.float16) for _ in range(2)), torch.zeros(2, dtype=torch.int32)
    )
    out, lse = host_cuda.decode(prepare_step(torch.zeros(2, 0, 2, 16, dtype=torch.float16), cache))
    assert out.shape == (2, 0, 2, 16)
    assert lse.shape == (2, 2, 0)


def test_what_is_refused() -> None:
    step = made(Sample())
    with pytest.raises(FlashpathError, match="1 to 128"):
        host_cuda.decode(step, 0)
    k = torch.zeros(2, 73, 2, 33, dtype=step.q.dtype)[..., :32]
    with pytest.raises(FlashpathError, match="multiples of 16 bytes"):
        host_cuda.decode(replace(step, cache=replace(step.cache, k=k)))
