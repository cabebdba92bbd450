"""FlashAttention 2 in CUDA C++, backward, against gradients in float64."""

# pyright: basic

from __future__ import annotations

import functools
from typing import Any

import pytest
import torch

from flashpath.kernels.attention import tiled
from flashpath.kernels.attention.flash_v2.cuda import host
from flashpath.kernels.attention.flash_v2.cuda.plans import BackwardPlan, PairsPlan, backward_plan
from tests.harness.attention_checks import check_backward, in_double
from tests.harness.attention_samples import Sample, covering_with_few_kernels, made

DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]


# What pairs of warps take, and lengths that give them several tiles of queries and of keys.
PAIRS = covering_with_few_kernels(
    dims=[(64, 64), (128, 120)],
    lengths=[(140, 70), (40, 200), (90, 33), (1, 65), (5, 0)],
    softcap=[0.0],
    mod=["none"],
)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("sample", [*covering_with_few_kernels(), *PAIRS], ids=str)
@pytest.mark.usefixtures("sanitized_on_cpu")
def test_every_pair_of_features(sample: Sample, device: str) -> None:
    backward = functools.partial(host.backward, deterministic=sample.deterministic)
    check_backward(backward, made(sample, device), with_dlse=sample.heads == (2, 2))


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


@pytest.mark.parametrize("dims", [(64, 64), (40, 64), (128, 128), (104, 120)], ids=str)
def test_pairs_of_warps_have_equal_dimensions(dims: tuple[int, int]) -> None:
    plain = made(Sample(dims=dims), batch=1)
    plan = backward_plan(plain, room=227 * 1024)
    assert isinstance(plan, PairsPlan)
    assert backward_plan(plain, deterministic=True).passes == (3,)
    for other in (Sample(dims=dims, softcap=3.0), Sample(dims=dims, mod="adds"), Sample(dims=(dims[0], 24))):
        assert not isinstance(backward_plan(made(other, batch=1)), PairsPlan)
    too_little = plan.shared(*[-(-each // 32) * 32 for each in dims]) - 1
    assert not isinstance(backward_plan(plain, room=too_little), PairsPlan)


@pytest.mark.parametrize("device", DEVICES)
def test_small_weights_keep_their_bits(device: str) -> None:
    """Of a million keys each has a weight for which a half has four bits."""

    def errors(sink: float) -> list[float]:
        problem = made(Sample(dims=(64, 64), sinks=True, lengths=(40, 150)), device, batch=1)
        assert problem.options.sinks is not None
        problem.options.sinks.fill_(sink)
        wide = in_double(problem)
        out, lse = tiled.forward(wide)
        dout = torch.randn(
            out.shape, generator=torch.Generator(device).manual_seed(1), device=device
        ).bfloat16()
        out, lse = out.bfloat16(), lse.float()
        got = host.backward(problem, out, lse, dout)
        exact = tiled.backward(wide, out.double(), lse.double(), dout.double(), None)
        return [float((x - y).norm() / y.norm()) for x, y in zip(got[:3], exact[:3], strict=True)]

    for small, usual in zip(errors(sink=18.0), errors(sink=0.0), strict=True):
        assert small < 1.5 * usual


@pytest.mark.parametrize(
    "sample",
    [
        Sample(mask="causal", dropout=0.25, dims=(40, 24)),
        Sample(layout="varlen", mask="window", heads=(4, 2), sinks=True),
        Sample(mask="causal", dropout=0.25, dims=(64, 64), lengths=(140, 200), heads=(2, 1)),
        Sample(layout="varlen", mask="window", dims=(128, 120), lengths=(150, 90), heads=(1, 1)),
    ],
    ids=str,
)
def test_nothing_is_wrong_with_it(sample: Sample, findings: list[Any]) -> None:
    for deterministic in (False, True):
        check_backward(functools.partial(host.backward, deterministic=deterministic), made(sample))
    assert not findings
