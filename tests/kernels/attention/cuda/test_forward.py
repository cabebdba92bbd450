"""FlashAttention 2 in CUDA C++, forward, against the formula in float64."""

# pyright: basic

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Any

import pytest
import torch

from flashpath.kernels.attention.flash_v2.cuda import host
from flashpath.kernels.attention.flash_v2.cuda.plans import ForwardPlan
from flashpath.kernels.attention.problem import Options, Problem, prepare
from tests.harness.attention_checks import check_forward, poisoned
from tests.harness.attention_samples import Sample, covering_with_few_kernels, made

DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("sample", covering_with_few_kernels(), ids=str)
@pytest.mark.usefixtures("sanitized_on_cpu")
def test_every_pair_of_features(sample: Sample, device: str) -> None:
    check_forward(host.forward, made(sample, device))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    "dims", [(8, 8), (24, 136), (96, 64), (128, 128), (160, 32), (192, 128), (256, 256)], ids=str
)
def test_dimensions(dims: tuple[int, int], device: str) -> None:
    check_forward(host.forward, made(Sample(dims=dims, mask="causal", heads=(1, 1)), device, batch=1))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("mask", ["full", "causal"])
@pytest.mark.parametrize("lengths", [(1, 1), (129, 65), (200, 3), (3, 200), (64, 128)], ids=str)
def test_lengths(lengths: tuple[int, int], mask: str, device: str) -> None:
    check_forward(host.forward, made(Sample(lengths=lengths, mask=mask, heads=(1, 1)), device, batch=1))


@pytest.mark.parametrize("device", DEVICES)
def test_negative_scale(device: str) -> None:
    problem = made(Sample(), device)
    for scale in (-0.3, 0.0):
        check_forward(host.forward, replace(problem, options=Options(scale=scale, causal=True)))


PLANS = [
    ForwardPlan(64, 32, 4, 2, False, 1),
    ForwardPlan(128, 64, 4, 3, True, 1),
    ForwardPlan(128, 32, 8, 2, False, 1),
    ForwardPlan(64, 64, 2, 2, True, 1),
]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("plan", PLANS, ids=str)
def test_plans(plan: ForwardPlan, device: str) -> None:
    """Rings that are longer and shorter than the sequence."""
    forward = functools.partial(host.forward, plan=plan)
    for lengths in ((70, 200), (130, 20)):
        check_forward(forward, made(Sample(lengths=lengths, mask="window", heads=(1, 1)), device, batch=1))


@pytest.mark.parametrize("device", DEVICES)
def test_an_output_with_gaps(device: str) -> None:
    problem = made(Sample(), device)
    wide = torch.full((2, 70, 4, 32), torch.nan, dtype=problem.q.dtype, device=device)
    host.forward(problem, wide[:, :, ::2], poisoned(problem)[1])
    assert torch.equal(wide[:, :, ::2], host.forward(problem)[0])
    assert bool(wide[:, :, 1::2].isnan().all())


@pytest.mark.parametrize("device", DEVICES)
def test_the_same_bits_every_time(device: str) -> None:
    problem: Problem = made(Sample(mask="causal", dropout=0.25), device)
    first = host.forward(problem)
    for _ in range(3 if device == "cpu" else 100):
        assert all(torch.equal(x, y) for x, y in zip(first, host.forward(problem), strict=True))


def test_rows_that_are_no_numbers_stay_among_themselves() -> None:
    problem = made(Sample(mask="causal", heads=(1, 1)), batch=1)
    k = problem.k.clone()
    k[0, 40] = torch.nan
    out, _ = host.forward(prepare(problem.q, k, problem.v, problem.options))
    assert not bool(out[0, :40].isnan().any())
    assert bool(out[0, 40:].isnan().all())


@pytest.mark.parametrize(
    "sample",
    [
        Sample(mask="causal", dropout=0.25, dims=(40, 24)),
        Sample(layout="varlen", mask="window", heads=(4, 2), sinks=True),
    ],
    ids=str,
)
def test_nothing_is_wrong_with_it(sample: Sample, findings: list[Any]) -> None:
    check_forward(host.forward, made(sample))
    assert not findings
