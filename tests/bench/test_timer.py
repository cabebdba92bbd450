from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest

from flashpath.bench.timer import CpuTimer, Timing, time_interleaved


def taking(clock: Any, *seconds: float) -> Callable[[], None]:
    """A function whose calls take the given times in turn, the last one for ever."""
    durations = itertools.chain(seconds, itertools.repeat(seconds[-1]))
    return lambda: clock.advance(next(durations))


def timed(clock: Any, functions: dict[str, Callable[[], Any]], **options: Any) -> Any:
    settings: dict[str, Any] = {"seconds": 0.0} | options
    return time_interleaved(functions, timer=CpuTimer(clock.nanoseconds), clock=clock.seconds, **settings)


def test_quantiles_of_known_samples() -> None:
    timing = Timing.of([5.0, 1.0, 3.0, 2.0, 4.0, 6.0], "hand")
    assert (timing.median, timing.p20, timing.p80) == (3.5, 2.0, 5.0)


def test_one_sample_is_its_own_spread() -> None:
    timing = Timing.of([2.0], "hand")
    assert (timing.median, timing.p20, timing.p80) == (2.0, 2.0, 2.0)


def test_first_calls_are_never_timed(clock: Any) -> None:
    slow_start = taking(clock, 9.0, 9.0, 9.0, 9.0, 0.001)
    timing = timed(clock, {"f": slow_start}, warm_up_calls=3)["f"]
    assert max(timing.samples) == pytest.approx(0.001)


def test_every_round_runs_every_variant_in_shuffled_order(clock: Any) -> None:
    trace: list[str] = []

    def traced(name: str) -> Callable[[], None]:
        return lambda: trace.append(name)

    timed(clock, {name: traced(name) for name in "abcd"}, warm_up_calls=1, min_rounds=20, max_rounds=20)
    # One call of each to warm up and one to rehearse come first.
    rounds = [tuple(trace[start : start + 4]) for start in range(8, len(trace), 4)]
    assert len(rounds) == 20
    assert all(sorted(one) == ["a", "b", "c", "d"] for one in rounds)
    assert len(set(rounds)) > 5  # not the same order each time


def test_the_order_repeats_with_the_seed(clock: Any) -> None:
    def trace_with(seed: int) -> list[str]:
        trace: list[str] = []
        functions: dict[str, Callable[[], Any]] = {
            name: (lambda name=name: trace.append(name)) for name in "abc"
        }
        timed(clock, functions, min_rounds=10, max_rounds=10, seed=seed)
        return trace

    assert trace_with(1) == trace_with(1)
    assert trace_with(1) != trace_with(2)


def test_budget_and_round_limits(clock: Any) -> None:
    functions = {"fast": taking(clock, 0.01), "slow": taking(clock, 1.0)}
    timings = timed(clock, functions, seconds=0.5, min_rounds=3, max_rounds=20)
    assert len(timings["slow"].samples) == 3  # over its budget at once: the least number of rounds
    assert len(timings["fast"].samples) == 20  # within its budget still at the most rounds
    generous = timed(clock, {"fast": taking(clock, 0.01)}, seconds=0.095, min_rounds=3, max_rounds=500)
    assert len(generous["fast"].samples) == 10  # until the budget is spent


def test_a_variant_that_raises_fails_alone(clock: Any) -> None:
    def broken() -> None:
        raise ValueError("no such kernel")

    timings = timed(clock, {"broken": broken, "works": taking(clock, 0.002)})
    assert str(timings["broken"].error) == "ValueError: no such kernel"
    assert timings["broken"].median is None
    assert timings["works"].median == pytest.approx(0.002)


def test_a_variant_that_raises_late_fails_alone(clock: Any) -> None:
    calls = itertools.count()

    def breaks_later() -> None:
        if next(calls) == 6:
            raise RuntimeError("out of luck")

    timings = timed(clock, {"later": breaks_later, "works": taking(clock, 0.002)}, min_rounds=8)
    assert str(timings["later"].error) == "RuntimeError: out of luck"
    assert len(timings["works"].samples) == 8


def test_ctrl_c_keeps_what_was_measured(clock: Any) -> None:
    calls = itertools.count()

    def interrupted() -> None:
        if next(calls) == 10:
            raise KeyboardInterrupt
        clock.advance(0.003)

    timings = timed(clock, {"f": interrupted}, min_rounds=100, warm_up_calls=3)
    assert timings.interrupted
    assert len(timings["f"].samples) == 6
    assert timings["f"].median == pytest.approx(0.003)


def test_ctrl_c_before_anything_was_measured(clock: Any) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    timings = timed(clock, {"f": interrupted})
    assert timings.interrupted
    assert str(timings["f"].error) == "interrupted before it was timed"


def test_the_cpu_timer_is_chosen_for_the_cpu() -> None:
    timing = time_interleaved({"f": lambda: None}, device="cpu", seconds=0.0)["f"]
    assert timing.method == "perf_counter, warm caches"
    assert timing.median is not None
    assert timing.median > 0


def test_a_variant_that_fails_in_rehearsal_fails_alone(clock: Any) -> None:
    calls = itertools.count()

    def breaks_after_warming_up() -> None:
        if next(calls) == 3:
            raise RuntimeError("graph lost")

    timings = timed(clock, {"f": breaks_after_warming_up, "works": taking(clock, 0.002)}, warm_up_calls=3)
    assert str(timings["f"].error) == "RuntimeError: graph lost"
    assert timings["works"].median == pytest.approx(0.002)
