"""Configurations of rungs, each with its time or bound and its error."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch

from flashpath.bench.agreement import distance
from flashpath.bench.counting import samples
from flashpath.bench.tuning import cases_of, configurations, tune
from flashpath.cli.sizes import parse_size, sized_cases, split_sizes
from flashpath.errors import FlashpathError
from flashpath.kernels import Case, Ladder, ladder
from flashpath.messages import Message, told


def _rounded(a: Any, b: Any, mantissa: int = 24) -> Any:
    """An addition that keeps so many bits."""
    fraction, exponent = torch.frexp(a + b)
    return torch.ldexp(torch.round(fraction * 2**mantissa) / 2**mantissa, exponent)


def _anything(_output: Any, _inputs: tuple[Any, ...]) -> None:
    """A check that nobody fails."""


def _backward_alone(_case: Case) -> Message:
    return told("kernels.takes-backward")


def _ladder() -> tuple[Ladder, Case]:
    add = ladder("vector_add")
    choosy = replace(add["reference"], name="rounded", function=_rounded, choices={"mantissa": (8, 16)})
    plain = replace(add["one_per_thread"], choices={})
    return replace(add, rungs=[add["reference"], plain, choosy]), sized_cases(add, ["4096"])[0]


def test_every_combination_is_tried_with_its_error() -> None:
    add, case = _ladder()
    assert configurations(add["rounded"]) == [{}, {"mantissa": 8}, {"mantissa": 16}]
    found = {each.name: each for each in tune(replace(add, check=_anything), case, device="cpu")}
    assert set(found) == {
        "reference",
        "one_per_thread",
        *(f"rounded{s}" for s in ("", "(mantissa=8)", "(mantissa=16)")),
    }
    exact, coarse, fine = (found[f"rounded{each}"].error for each in ("", "(mantissa=8)", "(mantissa=16)"))
    assert exact is not None
    assert coarse is not None
    assert fine is not None
    assert exact < 1e-7 < fine < 1e-4 < coarse < 1e-2
    assert found["one_per_thread"].is_bound
    assert (found["one_per_thread"].seconds or 0) > 0
    assert found["reference"].seconds is None  # nothing ran on the virtual GPU


def test_a_wrong_configuration_is_last_and_says_why() -> None:
    add, case = _ladder()
    tried = tune(add, case, device="cpu")
    wrong = {each.name: each.failure for each in tried if each.failure}
    assert set(wrong) == {"rounded(mantissa=8)", "rounded(mantissa=16)"}
    assert all("not equal" in str(failure) for failure in wrong.values())
    assert tried.tried[0].name == "one_per_thread"


def test_a_rung_that_declines_the_case_says_so_once() -> None:
    add, case = _ladder()
    choosy = replace(add["rounded"], declines=_backward_alone)
    tried = tune(replace(add, rungs=[*add.rungs[:2], choosy]), case, device="cpu")
    assert [(each.name, str(each.failure)) for each in tried if each.failure] == [
        ("rounded", "computes the backward direction only")
    ]


def test_without_a_clock_the_counted_cost_decides_the_order() -> None:
    transpose = ladder("transpose")
    tried = tune(transpose, sized_cases(transpose, ["64"])[0], only=["naive", "vectorized"], device="cpu")
    assert len(tried) == 1 + 5 + 1 + 2
    costs = [each.cost or 0 for each in tried]
    assert 0 < costs[0] < costs[-1]
    assert costs == sorted(costs)
    assert tried.tried[0].name.startswith("vectorized")
    product = ladder("matmul")
    found = tune(product, sized_cases(product, ["128"])[0], only=["naive", "vectorized"], device="cpu")
    best = {each.name: each for each in found if not each.options}
    fast, slow = best["vectorized"], best["naive"]
    assert fast.seconds == slow.seconds  # the same bytes and FLOPs: the roofline does not tell them apart
    assert 4 * (fast.cost or 0) < (slow.cost or 0)
    assert (fast.sectors or 0) < (slow.sectors or 0)
    assert slow.bank_conflicts == 0


def test_every_rung_has_a_case_that_it_takes() -> None:
    warp = ladder("warp")
    groups = cases_of(list(warp), samples(warp))
    assert sorted(rung.name for _, rungs in groups for rung in rungs) == sorted(rung.name for rung in warp)
    assert len(groups) > 1
    for case, rungs in groups:
        assert [rung.name for rung in rungs if rung.declines and rung.declines(case)] == []


def test_a_case_that_does_not_fit_is_an_error() -> None:
    add, _ = _ladder()
    with pytest.raises(FlashpathError, match=r"(?s)'2\^40 float32' could not be made.*smaller --size"):
        tune(add, sized_cases(add, ["2^40"])[0], device="cpu")


def test_what_was_tried_until_ctrl_c_is_kept() -> None:
    add, case = _ladder()

    def stopped(_a: Any, _b: Any, mantissa: int = 24) -> Any:
        if mantissa == 16:
            raise KeyboardInterrupt
        return _a + _b

    choosy = replace(add["rounded"], function=stopped)
    tried = tune(replace(add, rungs=[*add.rungs[:2], choosy]), case, device="cpu")
    assert tried.interrupted
    assert [each.name for each in tried] == [
        "one_per_thread",
        "reference",
        "rounded",
        "rounded(mantissa=8)",
    ]


def test_only_names_rungs() -> None:
    add, case = _ladder()
    assert [each.name for each in tune(add, case, only=["one_per_thread"], device="cpu")] == [
        "one_per_thread"
    ]
    with pytest.raises(FlashpathError, match="no rung"):
        tune(add, case, only=["two_per_thread"], device="cpu")
    (exact,) = tune(replace(add, truth=None), case, only=["one_per_thread"], device="cpu")
    assert exact.error is None


def test_distance_is_relative_to_the_largest_element_and_leaves_out_what_is_infinite() -> None:
    exact = torch.tensor([1.0, -4.0, float("inf")], dtype=torch.float64)
    assert distance(torch.tensor([1.0, -4.5, float("inf")]), exact) == 0.125
    assert distance((exact, exact + 1), (exact, exact)) == 0.25
    assert distance(torch.tensor([float("nan")]), torch.tensor([float("nan")])) == 0.0
    assert distance(torch.tensor([float("nan"), 1.0]), torch.ones(2)) == float("inf")
    assert distance(torch.tensor([float("inf"), 1.0]), torch.ones(2)) == float("inf")
    assert distance(torch.tensor([float("inf")], dtype=torch.float16), torch.tensor([1e6])) == 0.0
    with pytest.raises(AssertionError, match="shape"):
        distance(torch.ones(2), torch.ones(1))


def test_sizes_as_people_type_them() -> None:
    add = ladder("vector_add")
    assert [case.name for case in sized_cases(add, split_sizes(["2^20,1000", "2^4"]))] == [
        "2^20 float32",
        "1000 float32",
        "16 float32",
    ]
    square = replace(add, dimensions=("rows", "n"), sample=(32, 64))
    assert parse_size(square, "32768x1024") == (32768, 1024)
    assert parse_size(square, "4096") == (4096, 4096)
    for wrong in ("", "0", "-1", "2^", "ten", "2x3", "2^99"):
        with pytest.raises(FlashpathError, match="is no size"):
            parse_size(add, wrong)
    with pytest.raises(FlashpathError, match="rows x n, such as 32x64"):
        parse_size(square, "2x3x4")
    with pytest.raises(FlashpathError, match="2\\^28 float32"):
        sized_cases(replace(add, sized=None), ["4"])


@pytest.mark.gpu
def test_every_configuration_is_timed_on_a_gpu() -> None:
    vector_add = ladder("vector_add")
    case = sized_cases(vector_add, ["2^20"])[0]
    tuning = tune(vector_add, case, only=["vectorized", "triton"], seconds=0.01, progress=False)
    assert {each.rung for each in tuning} == {"vectorized", "triton"}
    assert all(each.seconds and not each.is_bound and each.failure is None for each in tuning)
