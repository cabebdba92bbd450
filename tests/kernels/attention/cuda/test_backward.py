"""FlashAttention 2 in CUDA C++, backward, against gradients in float64."""

# pyright: basic

from __future__ import annotations

import functools
from typing import Any

import pytest
import torch
from attention_checks import check_backward
from attention_samples import Sample, covering_with_few_kernels, made

from flashpath.kernels.attention.flash_v2.cuda import host
from flashpath.kernels.attention.flash_v2.cuda.plans import BackwardPlan, SplitPlan

DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("sample", covering_with_few_kernels(), ids=str)
def test_every_pair_of_features(sample: Sample, device: str) -> None:
    backward = functools.partial(host.backward, deterministic=sample.deterministic)
    # Where a query sees one key, its scores have no gradient but by lse: all else is a difference of equals.
    with_dlse = sample.heads == (2, 2) or sample.mask == "far"
    check_backward(backward, made(sample, device), with_dlse=with_dlse)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    "dims", [(8, 8), (24, 136), (96, 64), (128, 128), (160, 32), (192, 128), (256, 256)], ids=str
)
@pytest.mark.parametrize("deterministic", [False, True])
def test_dimensions(dims: tuple[int, int], deterministic: bool, device: str) -> None:
    problem = made(Sample(dims=dims, mask="causal", heads=(1, 1)), device, batch=1)
    check_backward(functools.partial(host.backward, deterministic=deterministic), problem)


@pytest.mark.parametrize("device", DEVICES)
def test_the_same_bits_every_time(device: str) -> None:
    problem = made(Sample(lengths=(140, 200), heads=(2, 1), mask="causal"), device, batch=1)
    out, lse = host.forward(problem)
    gradients = functools.partial(host.backward, problem, out, lse, out, deterministic=True)
    first = gradients()[:3]
    for _ in range(2 if device == "cpu" else 100):
        assert all(torch.equal(x, y) for x, y in zip(first, gradients()[:3], strict=True))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("mask", ["full", "causal"])
@pytest.mark.parametrize("lengths", [(1, 1), (129, 65), (200, 3), (3, 200), (64, 128)], ids=str)
def test_lengths(lengths: tuple[int, int], mask: str, device: str) -> None:
    check_backward(host.backward, made(Sample(lengths=lengths, mask=mask, heads=(1, 1)), device, batch=1))


PLANS = [
    BackwardPlan(64, 64, 4, 2, 1),
    BackwardPlan(32, 128, 4, 2, 1),
    BackwardPlan(64, 128, 4, 4, 1, (1, 6)),
    BackwardPlan(32, 32, 2, 1, 1),
]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("plan", PLANS, ids=str)
def test_plans(plan: BackwardPlan, device: str) -> None:
    backward = functools.partial(host.backward, plan=plan)
    for lengths in ((70, 200), (130, 20)):
        check_backward(backward, made(Sample(lengths=lengths, mask="window", heads=(2, 1)), device, batch=1))


SPLIT_PLANS = [SplitPlan(64, 64, 2, 1), SplitPlan(64, 128, 2, 1), SplitPlan(64, 64, 3, 1)]
SPLIT_SAMPLES = [
    Sample(lengths=(70, 200), mask="window", heads=(2, 1), dims=(64, 64)),
    Sample(lengths=(260, 90), dims=(128, 120), heads=(1, 1)),
    Sample(lengths=(70, 130), mask="causal", dims=(64, 64), layout="varlen", dropout=0.25, softcap=3.0),
]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("sample", SPLIT_SAMPLES, ids=str)
@pytest.mark.parametrize("plan", SPLIT_PLANS, ids=str)
def test_half_of_the_warps_for_each_gradient(plan: SplitPlan, sample: Sample, device: str) -> None:
    check_backward(functools.partial(host.backward, plan=plan), made(sample, device, batch=1))


@pytest.mark.parametrize(
    "sample",
    [
        Sample(mask="causal", dropout=0.25, dims=(40, 24)),
        Sample(layout="varlen", mask="window", heads=(4, 2), sinks=True),
    ],
    ids=str,
)
def test_nothing_is_wrong_with_it(sample: Sample, findings: list[Any]) -> None:
    for deterministic in (False, True):
        check_backward(functools.partial(host.backward, deterministic=deterministic), made(sample))
    assert not findings
