"""What `flashpath ladder` shows of rungs: their counts on the virtual GPU, and their last measured speed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from flashpath.bench.agreement import distance
from flashpath.bench.counting import count, first_taken, last_measured, samples
from flashpath.bench.record import Record
from flashpath.kernels import ladder, ladders


def test_each_rung_of_the_reduction_shows_what_it_improves() -> None:
    reduction = ladder("reduction")
    case = samples(reduction)[0]
    divergent, conflicted, sequential, vectorized, single = (
        count(reduction[name], case)
        for name in ("divergent", "bank_conflicted", "sequential", "vectorized", "single_pass")
    )
    assert divergent.warp_instructions > conflicted.warp_instructions > sequential.warp_instructions
    assert conflicted.bank_conflicts > 0 == sequential.bank_conflicts
    assert (vectorized.launches, single.launches) == (2, 1)
    assert (sequential.sectors_per_request or 0) <= 4 < 15 < (vectorized.sectors_per_request or 0)
    assert vectorized.times_least is not None
    assert 1 <= vectorized.times_least < 1.01


def test_what_cannot_be_counted_says_why() -> None:
    reduction = ladder("reduction")
    case = samples(reduction)[0]
    assert count(reduction["by_row"], case).failure == "reduces rows, not whole tensors"

    def fails(*_: Any) -> None:
        raise ZeroDivisionError("division by zero")

    broken = replace(reduction["single_pass"], function=fails)
    assert "division by zero" in (count(broken, case).failure or "")


def test_the_last_measured_records_are_of_one_case() -> None:
    (measured,) = last_measured(ladder("vector_add"))
    assert {"reference", "vectorized", "torch"} <= set(measured)
    assert len({record.case for record in measured.values()}) == 1
    assert last_measured(replace(ladder("vector_add"), name="never measured")) == []


def test_rungs_that_the_first_case_does_not_have_come_with_another(monkeypatch: pytest.MonkeyPatch) -> None:
    (records,) = last_measured(add := ladder("vector_add"))

    def record(implementation: str, case: str) -> Record:
        return replace(records[implementation], case=case)

    kept = [
        *(record(name, "both") for name in ("reference", "one_per_thread", "torch")),
        *(record(name, "half") for name in ("reference", "vectorized", "torch")),
        record("torch", "a peer's"),
    ]
    monkeypatch.setattr("flashpath.bench.counting._records", lambda: kept)
    groups = [(group.keys(), {each.case for each in group.values()}) for group in last_measured(add)]
    assert groups == [
        ({"reference", "one_per_thread", "torch"}, {"both"}),
        ({"reference", "vectorized", "torch"}, {"half"}),  # the reference to compare with, each time
    ]


def test_the_last_measured_case_is_of_the_kind_that_sizes_are_of(monkeypatch: pytest.MonkeyPatch) -> None:
    (records,) = last_measured(add := ladder("vector_add"))

    def record(implementation: str, case: str, dtype: str) -> Record:
        return replace(records[implementation], case=case, parameters={"n": 1, "dtype": dtype})

    names = [rung.name for rung in add if rung.name in records]
    kept = [
        *(record(name, "unusual", "bfloat16") for name in names),
        *(record(name, "usual", "float32") for name in ("reference", "vectorized")),
    ]
    monkeypatch.setattr("flashpath.bench.counting._records", lambda: kept)
    first, second = last_measured(add)
    assert {each.case for each in first.values()} == {"usual"}
    assert {each.case for each in second.values()} == {"unusual"}


def test_rungs_of_other_kinds_are_shown_on_the_same_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not on the one that is the longest of theirs."""
    forward, backward = last_measured(attention := ladder("attention"))[:2]
    for group in (forward, backward):
        assert len({record.case for record in group.values()}) == 1
    one, other = (next(iter(group.values())) for group in (forward, backward))
    assert one.parameters["direction"] != other.parameters["direction"]
    assert {**one.parameters, "direction": "backward"} == other.parameters
    assert {"flash_v2_triton_backward", "flash_v2_cuda_backward", "naive_backward"} <= backward.keys()

    def record(rung: str, direction: str, sequence: int) -> Record:
        parameters = {"direction": direction, "sequence": sequence}
        return replace(one, implementation=rung, case=f"{direction} {sequence}", parameters=parameters)

    kept = [
        *(record(rung, "forward", n) for rung in ("naive", "flash_v2_cuda") for n in (10, 20, 30)),
        record("flash_v2_cuda_backward", "backward", 20),
        *(record("naive_backward", "backward", n) for n in (20, 30)),
    ]
    monkeypatch.setattr("flashpath.bench.counting._records", lambda: kept)
    cases = [{record.case for record in group.values()} for group in last_measured(attention)]
    assert cases == [{"forward 20"}, {"backward 20"}]


@pytest.mark.parametrize("name", ladders())
def test_every_rung_takes_one_of_the_samples(name: str) -> None:
    found = ladder(name)
    cases = samples(found)
    assert all(0 < case.bytes <= 2**22 for case in cases)
    for rung in found:
        case = first_taken(cases, rung)
        assert rung.declines is None or rung.declines(case) is None, rung.name
    for case in cases:
        inputs = case.inputs("cpu")
        output = found.reference(*inputs)
        found.check(output, inputs)
        if found.truth is not None:
            assert distance(output, found.truth(inputs)) < 0.01
