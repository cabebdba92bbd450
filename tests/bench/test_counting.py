"""What `flashpath ladder` shows of rungs: their counts on the virtual GPU, and their last measured speed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from flashpath.bench.counting import count, last_measured, sample_case
from flashpath.kernels import ladder


def test_each_rung_of_the_reduction_shows_what_it_improves() -> None:
    reduction = ladder("reduction")
    case = sample_case(reduction)
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
    case = sample_case(reduction)
    assert count(reduction["by_row"], case).failure == "reduces rows, not whole tensors"

    def fails(*_: Any) -> None:
        raise ZeroDivisionError("division by zero")

    broken = replace(reduction["single_pass"], function=fails)
    assert "division by zero" in (count(broken, case).failure or "")


def test_the_last_measured_records_are_of_one_case() -> None:
    measured = last_measured(ladder("vector_add"))
    assert {"reference", "vectorized", "torch"} <= set(measured)
    assert len({record.case for record in measured.values()}) == 1
    assert last_measured(replace(ladder("vector_add"), name="never measured")) == {}
