"""Every combination of the features on a GPU, both rungs, forward and backward, against float64.

`make test` has every pair of them; here is the whole product of what masks, scores and weights can be. Types,
dimensions, lengths and heads take turns beside it, so that each of them meets each feature many times.
"""

# pyright: basic, reportCallIssue=false, reportArgumentType=false

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest

from flashpath.kernels.attention.flash_v2.cuda import host as cuda
from flashpath.kernels.attention.flash_v2.triton import host as triton
from tests.harness.attention_checks import check_backward, check_forward
from tests.harness.attention_samples import CHOICES, Sample, made

pytestmark = pytest.mark.gpu

RUNGS = {"triton": triton, "cuda": cuda}
# The first of them name a test, the others are gone through in it.
NAMED = ("mask", "mod", "softcap", "dropout")
INSIDE = ("layout", "alibi", "sinks")


def _matrix() -> dict[tuple[Any, ...], list[Sample]]:
    groups: dict[tuple[Any, ...], list[Sample]] = {}
    places = itertools.product(*(range(len(CHOICES[name])) for name in NAMED + INSIDE))
    for number, place in enumerate(places):
        mask, mod, softcap, _, _, alibi, _ = place
        turns = {
            # By features, not by number: a kernel is compiled for each type and dimension.
            "dtype": mask + alibi,
            "dims": mask + softcap + mod,
            "lengths": number,
            "heads": number,
            "deterministic": number // 2,
        }
        chosen = {name: CHOICES[name][at] for name, at in zip(NAMED + INSIDE, place, strict=True)}
        named = tuple(chosen[name] for name in NAMED)
        chosen |= {name: CHOICES[name][turn % len(CHOICES[name])] for name, turn in turns.items()}
        groups.setdefault(named, []).append(Sample(**chosen))
    return groups


MATRIX = _matrix()


def test_every_choice_is_in_the_matrix() -> None:
    samples = [sample for group in MATRIX.values() for sample in group]
    assert len(samples) == math.prod(len(CHOICES[name]) for name in NAMED + INSIDE)
    for name, values in CHOICES.items():
        assert {getattr(sample, name) for sample in samples} == set(values)


@pytest.mark.parametrize("rung", RUNGS)
@pytest.mark.parametrize("named", MATRIX, ids=str)
def test_together(named: tuple[Any, ...], rung: str) -> None:
    failed: dict[str, AssertionError] = {}
    for sample in MATRIX[named]:
        try:
            _check(sample, rung)
        except AssertionError as error:
            failed[str(sample)] = error
    assert not failed, f"{len(failed)} of {len(MATRIX[named])} are wrong: {failed}"


def _check(sample: Sample, rung: str) -> None:
    problem = made(sample, "cuda")
    check_forward(RUNGS[rung].forward, problem)
    more = {"deterministic": sample.deterministic}
    if rung == "triton" and not sample.deterministic:
        more["adds_dq"] = sample.lengths[0] % 2 == 0
    check_backward(RUNGS[rung].backward, problem, with_dlse=sample.heads != (2, 2), **more)


# Tiles of long sequences, of which some need no mask, for the plans of every dimension.
LONG = [
    Sample(lengths=lengths, dims=dims, heads=heads, mask=mask, layout=layout, dtype=dtype)
    for dims in ((64, 64), (128, 128), (96, 96), (192, 128), (256, 256), (64, 128))
    for lengths, heads in (((1000, 1000), (2, 1)), ((257, 1023), (1, 1)), ((700, 130), (3, 3)))
    for mask, layout, dtype in (
        ("full", "dense", "bfloat16"),
        ("causal", "dense", "float16"),
        ("window", "varlen", "bfloat16"),
        ("causal", "strided", "bfloat16"),
    )
]


@pytest.mark.parametrize("rung", RUNGS)
@pytest.mark.parametrize("sample", LONG, ids=str)
def test_long_sequences(sample: Sample, rung: str) -> None:
    problem = made(sample, "cuda")
    check_forward(RUNGS[rung].forward, problem)
    check_backward(RUNGS[rung].backward, problem)


@pytest.mark.parametrize("rung", RUNGS)
@pytest.mark.parametrize("dim", range(16, 257, 8))
def test_every_dimension(dim: int, rung: str) -> None:
    for dims in ((dim, dim), (dim, 272 - dim)):
        problem = made(Sample(dims=dims, mask="causal", lengths=(90, 150), heads=(2, 1)), "cuda")
        check_forward(RUNGS[rung].forward, problem)
        check_backward(RUNGS[rung].backward, problem)
