"""The references agree with each other, with torch, and with finite differences."""

# pyright: basic, reportCallIssue=false, reportArgumentType=false

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch

from flashpath.errors import FlashpathError
from flashpath.kernels.attention import dropout, tiled
from flashpath.kernels.attention.problem import Options, Problem, prepare, visible_pairs
from flashpath.kernels.attention.reference import formula, places, visible
from tests.harness.attention_checks import check_backward, in_double
from tests.harness.attention_samples import CHOICES, Sample, covering, covering_with_few_kernels, made
from tests.harness.covering_array import all_pairs, pairs_of

SAMPLES = covering()


@pytest.mark.parametrize("samples", [SAMPLES, covering_with_few_kernels()], ids=len)
def test_every_pair_of_features_is_covered(samples: list[Sample]) -> None:
    met = set().union(*(pairs_of(CHOICES, sample) for sample in samples))
    assert met.issuperset(all_pairs(CHOICES))


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_tiles_give_what_the_formula_gives(sample: Sample) -> None:
    problem = in_double(made(sample))
    inputs = [each.requires_grad_() for each in (problem.q, problem.k, problem.v)]
    if problem.options.sinks is not None:
        inputs.append(problem.options.sinks.requires_grad_())
    by_formula = formula(*inputs[:3], problem.options, problem.sequences)
    by_tiles = tiled.tiled(*inputs[:3], problem.options, problem.sequences)
    for ours, theirs in zip(by_tiles, by_formula, strict=True):
        torch.testing.assert_close(ours, theirs)
    dout = torch.randn_like(by_formula[0])
    dlse = torch.where(by_formula[1] == -torch.inf, 0.0, torch.randn_like(by_formula[1]))
    for ours, theirs in zip(
        torch.autograd.grad(by_tiles, inputs, (dout, dlse)),
        torch.autograd.grad(by_formula, inputs, (dout, dlse)),
        strict=True,
    ):
        torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize("mask", ["full", "causal", "far"])
def test_a_wrong_delta_is_seen(mask: str) -> None:
    def backward(problem: Problem, out: Any, *more: Any, wrong: float) -> tiled.Gradients:
        *numbers, dlse = more
        got = tiled.backward(in_double(problem), out.double() * wrong, *(x.double() for x in numbers), dlse)
        return tiled.Gradients(*(each.to(out.dtype) for each in got[:3]), None)

    problem = made(Sample(mask=mask))
    check_backward(backward, problem, wrong=1.0)
    for wrong in (0.95, 1.05):
        with pytest.raises(AssertionError, match="the error is"):
            check_backward(backward, problem, wrong=wrong)


@pytest.mark.parametrize(
    "sample",
    [
        Sample(),
        Sample(mask="causal", heads=(4, 2), sinks=True),
        Sample(mask="window", softcap=3.0, mod="bends"),
        Sample(alibi="heads", dropout=0.25, layout="varlen", mask="causal"),
    ],
    ids=str,
)
def test_finite_differences_agree_with_the_tiles(sample: Sample) -> None:
    problem = in_double(made(replace(sample, lengths=(5, 6), dims=(8, 16)), batch=1))
    inputs = [each.requires_grad_() for each in (problem.q, problem.k, problem.v)]
    if problem.options.sinks is not None:
        inputs.append(problem.options.sinks.requires_grad_())

    def function(q: Any, k: Any, v: Any, *sinks: Any) -> Any:
        options = replace(problem.options, sinks=sinks[0]) if sinks else problem.options
        out, lse = tiled.tiled(q, k, v, options, problem.sequences)
        return out, torch.where(lse == -torch.inf, 0.0, lse)  # differences of infinities are no numbers

    assert torch.autograd.gradcheck(function, inputs)


@pytest.mark.parametrize("causal", [False, True])
def test_torch_has_the_same_formula(causal: bool) -> None:
    q, k, v = (torch.randn(2, 9, 3, 8, dtype=torch.float64) for _ in range(3))
    theirs = torch.nn.functional.scaled_dot_product_attention(
        *(each.transpose(1, 2) for each in (q, k, v)), is_causal=causal
    )
    torch.testing.assert_close(formula(q, k, v, Options(causal=causal))[0], theirs.transpose(1, 2))


def test_the_last_query_stands_at_the_last_key() -> None:
    """As flash-attn has it. SDPA's is_causal puts the first query at the first key instead."""
    seen = visible(Options(causal=True), places(0, torch.tensor([0]), 2, 5))[0]
    assert seen.tolist() == [[True, True, True, True, False], [True] * 5]
    more_queries = visible(Options(causal=True), places(0, torch.tensor([0]), 5, 2))[0]
    assert more_queries.sum(1).tolist() == [0, 0, 0, 1, 2]
    q, k, v = (torch.randn(1, n, 1, 8, dtype=torch.float64) for n in (2, 5, 5))
    ours = formula(q, k, v, Options(causal=True))[0]
    theirs = torch.nn.functional.scaled_dot_product_attention(
        *(each.transpose(1, 2) for each in (q, k, v)), is_causal=True
    ).transpose(1, 2)
    assert not torch.allclose(ours, theirs)


def test_a_window_holds_both_its_ends() -> None:
    seen = visible(Options(window=(1, 2)), places(0, torch.tensor([0]), 6, 6))[0]
    assert seen[3].tolist() == [False, False, True, True, True, True]
    assert visible_pairs(6, 6, 1, 2) == int(seen.sum())
    assert visible_pairs(5, 2, -1, 0) == 3


def test_a_query_that_sees_nothing_is_zero_and_has_no_gradient() -> None:
    q = torch.randn(1, 5, 1, 8, dtype=torch.float64, requires_grad=True)
    k, v = (torch.randn(1, 2, 1, 8, dtype=torch.float64) for _ in range(2))
    out, lse = formula(q, k, v, Options(causal=True))
    assert out[0, :3].abs().max() == 0
    assert (lse[0, 0, :3] == -torch.inf).all()
    (dq,) = torch.autograd.grad(out.sum(), q)
    assert dq[0, :3].abs().max() == 0
    assert dq.isfinite().all()


# ---- Dropout ---------------------------------------------------------------------------------------------


def test_philox_has_the_published_bits() -> None:
    """The first known answer of the authors' own test file: counter 0, key 0."""
    zero = torch.zeros(1, dtype=torch.int64)
    words = [int(word) for word in dropout.philox((zero, zero, zero, zero), 0)]
    assert words == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    ones = torch.full((1,), 0xFFFFFFFF)
    words = [int(word) for word in dropout.philox((ones, ones, ones, ones), 2**64 - 1)]
    assert words == [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_dropout_removes_its_share(p: float) -> None:
    stays = dropout.kept(
        12345, p, torch.arange(4)[:, None, None], torch.arange(200)[:, None], torch.arange(300)
    )
    n = stays.numel()
    assert abs(float(stays.double().mean()) - (1 - p)) < 5 * (p * (1 - p) / n) ** 0.5
    assert not torch.equal(stays[0], stays[1])


# ---- What is refused -------------------------------------------------------------------------------------


def _tensors(**change: tuple[int, ...]) -> list[torch.Tensor]:
    shapes = {"q": (1, 4, 2, 16), "k": (1, 4, 2, 16), "v": (1, 4, 2, 16), **change}
    return [torch.zeros(shape, dtype=torch.float16) for shape in shapes.values()]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"q": (4, 2, 16)}, "sequence, heads, dim"),
        ({"q": (1, 4, 3, 16)}, "multiple of those"),
        ({"k": (1, 5, 2, 16)}, "must agree"),
        ({"q": (2, 4, 2, 16)}, "in the batch"),
        ({"v": (1, 4, 2, 20)}, "multiples of 8"),
        ({"q": (1, 4, 2, 264), "k": (1, 4, 2, 264)}, "up to 256"),
    ],
)
def test_wrong_shapes_are_refused(change: dict[str, tuple[int, ...]], words: str) -> None:
    with pytest.raises(FlashpathError, match=words):
        prepare(*_tensors(**change))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (Options(window=(-2, 0)), "no bound"),
        (Options(softcap=-1.0), "0 .none. or more"),
        (Options(dropout_p=1.0), "0 <= p < 1"),
        (Options(dropout_p=0.5), "seed"),
        (Options(sinks=torch.zeros(3)), "sinks"),
        (Options(alibi_slopes=torch.zeros(2, dtype=torch.float64)), "float32"),
        (Options(scale=float("nan")), "finite"),
    ],
)
def test_wrong_options_are_refused(options: Options, words: str) -> None:
    with pytest.raises(FlashpathError, match=words):
        prepare(*_tensors(), options)


def test_rows_that_are_not_whole_are_copied_and_others_are_not() -> None:
    q, _, v = _tensors()
    inside = torch.zeros(1, 4, 2, 24, dtype=torch.float16)
    problem = prepare(q, inside[..., 8:], inside[..., 1:17])
    assert isinstance(problem, Problem)
    assert problem.q.data_ptr() == q.data_ptr()
    assert problem.k.data_ptr() == inside[..., 8:].data_ptr()
    assert problem.v.is_contiguous()
    assert v.is_contiguous()
