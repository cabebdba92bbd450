"""FlashAttention 2 in Triton: every two features together, forward and backward, against float64."""

# pyright: basic, reportCallIssue=false, reportArgumentType=false

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import pytest
import torch

from flashpath.errors import FlashpathError
from flashpath.kernels.attention.flash_v2.triton import configs, host
from flashpath.kernels.attention.problem import Options, prepare
from flashpath.kernels.attention.score_mod import ScoreMod
from tests.harness.attention_checks import check_backward, check_forward
from tests.harness.attention_samples import Sample, covering, made

SAMPLES = covering()


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_forward(sample: Sample, findings: list[Any]) -> None:
    check_forward(host.forward, made(sample))
    assert not findings


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_backward(sample: Sample, findings: list[Any]) -> None:
    with_dlse = sample.heads != (2, 2)
    check_backward(host.backward, made(sample), with_dlse=with_dlse, adds_dq=not sample.deterministic)
    assert not findings


@pytest.mark.parametrize("dims", [(8, 8), (24, 96), (128, 128), (192, 128), (256, 256)], ids=str)
def test_any_dimension(dims: tuple[int, int]) -> None:
    problem = made(Sample(dims=dims, lengths=(20, 37), mask="causal", heads=(1, 1)), batch=1)
    check_forward(host.forward, problem)
    check_backward(host.backward, problem)


# Longer than SHORT: the tiles of long sequences, of which some need no mask.
LONG = [
    Sample(lengths=(130, 260), dims=(64, 64), heads=(4, 2)),
    Sample(lengths=(200, 300), dims=(64, 64), heads=(3, 1), mask="causal", dtype="float16"),
    Sample(lengths=(150, 257), dims=(128, 128), heads=(1, 1), mask="causal"),
    Sample(lengths=(140, 130), dims=(256, 256), heads=(1, 1)),
    Sample(lengths=(260, 140), dims=(64, 128), heads=(2, 1), mask="window", layout="varlen"),
]


@pytest.mark.parametrize("sample", LONG, ids=str)
def test_large_tiles_forward(sample: Sample) -> None:
    check_forward(host.forward, made(sample, batch=1))


@pytest.mark.parametrize("adds_dq", [False, True])
@pytest.mark.parametrize("sample", LONG, ids=str)
def test_large_tiles_backward(sample: Sample, adds_dq: bool) -> None:
    check_backward(host.backward, made(sample, batch=1), adds_dq=adds_dq)


# Products of the next tile before the softmax of this one, which long sequences get: loops before, within and
# after what needs no mask, of many tiles, few and none; other sequences behind the last key.
AHEAD = [
    Sample(lengths=(40, 130), dims=(128, 128), heads=(1, 1), mask="causal"),
    Sample(lengths=(70, 128), softcap=3.0, mod="hides"),
    Sample(lengths=(90, 200), mask="window", layout="varlen", dropout=0.25, heads=(2, 1)),
    Sample(lengths=(150, 33), mask="causal", sinks=True, layout="strided", alibi="heads"),
    Sample(lengths=(100, 90), mask="far", dims=(40, 24), dtype="float16", mod="bends"),
]


@pytest.mark.parametrize("sample", AHEAD, ids=str)
def test_products_ahead(sample: Sample, findings: list[Any]) -> None:
    config = configs.Config(64, 32, 4, 2, ahead=True)
    check_forward(partial(host.forward, config=config), made(sample))
    assert not findings


@pytest.mark.parametrize(("dim", "causal"), [(128, True), (128, False), (64, True)])
def test_long_sequences_get_their_own_tiles(dim: int, causal: bool) -> None:
    def config(keys: int) -> configs.Config:
        q, k = (torch.empty(1, rows, 1, dim, dtype=torch.bfloat16) for rows in (200, keys))
        return configs.forward_config(prepare(q, k, k, Options(causal=causal)))

    assert config(100).ahead == config(configs.LONG).ahead == (dim == 128 and not causal)
    assert config(configs.LONG + 1).ahead == (dim == 128)
    assert config(configs.LONG + 1).n == (64 if dim == 128 else 128)


@pytest.mark.parametrize(
    "sample",
    [
        Sample(lengths=(40, 70), mask="causal", layout="varlen", heads=(2, 1)),
        Sample(lengths=(33, 50), mask="window", dims=(40, 24), dropout=0.25, alibi="heads", sinks=True),
    ],
    ids=str,
)
def test_the_sanitizer_finds_nothing(sample: Sample, findings: list[Any]) -> None:
    problem = made(sample)
    check_forward(host.forward, problem)
    for adds_dq in (False, True):
        check_backward(host.backward, problem, with_dlse=True, adds_dq=adds_dq)
    assert not findings


def test_deterministic_gradients_have_the_same_bits() -> None:
    problem = made(Sample(heads=(4, 2), mask="causal"))
    first, second = (check_backward(host.backward, problem, deterministic=True) for _ in range(2))
    for a, b in zip(first[:3], second[:3], strict=True):
        assert torch.equal(a, b)


def test_what_every_batch_shares_is_read_in_place() -> None:
    q, k, v = (torch.randn(1, 40, 2, 16).bfloat16().expand(3, 40, 2, 16) for _ in range(3))
    problem = prepare(q, k, v, Options(causal=True))
    check_forward(host.forward, problem)
    check_backward(host.backward, problem)


@pytest.mark.parametrize("scale", [0.0, -0.3, 2.0])
def test_any_scale(scale: float) -> None:
    problem = made(Sample(lengths=(20, 40), mask="causal"))
    problem = replace(problem, options=replace(problem.options, scale=scale))
    check_forward(host.forward, problem)
    check_backward(host.backward, problem)


def test_a_score_mod_without_a_form_for_triton_is_refused() -> None:
    problem = made(Sample(lengths=(5, 5)))
    mod = ScoreMod("of torch", lambda score, *_: score)
    with pytest.raises(FlashpathError, match="triton"):
        host.forward(replace(problem, options=replace(problem.options, score_mod=mod)))
