"""The CUDA timer, on a GPU."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import Any

import pytest

from flashpath.bench.ceilings import measure_ceilings
from flashpath.bench.cuda_timer import (
    SHORT_CALL_SECONDS,
    CaptureFailed,
    CudaTimer,
    EventSampler,
    GraphSampler,
)
from flashpath.bench.device import load_torch
from flashpath.bench.timer import Sampler, time_interleaved

pytestmark = pytest.mark.gpu


def median_of(sampler: Sampler, rounds: int = 20) -> float:
    return statistics.median(sample for _ in range(rounds) for sample in sampler.sample())


def copy_call(megabytes: int) -> tuple[Callable[[], Any], int]:
    """A copy of so many MiB, and the bytes it moves."""
    torch = load_torch()
    source = torch.rand(megabytes * 2**18, device="cuda")
    target = torch.empty_like(source)
    return lambda: target.copy_(source), 2 * source.numel() * 4


def long_call() -> Callable[[], Any]:
    """About twice as long as what is timed by a graph."""
    copy, moved = copy_call(1024)
    copies = round(2 * SHORT_CALL_SECONDS / (moved / 4e12))  # no GPU copies much faster

    def call() -> None:
        for _ in range(copies):
            copy()

    return call


def test_a_copy_reaches_the_copy_ceiling() -> None:
    ceilings = measure_ceilings("cuda", (), quick=True)
    copy, moved = copy_call(512)
    timing = time_interleaved({"copy": copy}, device="cuda", seconds=0.2)["copy"]
    assert timing.median is not None
    assert ceilings.copy_bytes_per_s is not None
    assert 0.6 < moved / timing.median / ceilings.copy_bytes_per_s < 1.1


def test_long_calls_are_timed_by_events_and_short_ones_by_a_graph() -> None:
    timer = CudaTimer()
    long_copy = long_call()
    short_copy, _ = copy_call(4)
    assert timer.sampler(long_copy).method == "events, cold L2"
    assert timer.sampler(short_copy).method == "graph replay, cold L2"


def test_graph_and_events_agree_where_launch_gaps_are_small() -> None:
    timer = CudaTimer()
    copy, _ = copy_call(256)
    by_events = median_of(EventSampler(timer, copy))
    by_graph = median_of(GraphSampler(timer, copy))
    assert 1 / 1.3 < by_graph / by_events < 1.3


def test_a_graph_does_not_miss_the_call() -> None:
    """Four times the bytes take about four times as long: the replay does the work it is timed for."""
    timer = CudaTimer()
    small, large = copy_call(64)[0], copy_call(256)[0]
    assert 2.5 < median_of(GraphSampler(timer, large)) / median_of(GraphSampler(timer, small)) < 6


def test_the_flush_makes_the_cache_cold() -> None:
    torch = load_torch()

    class Unflushed(CudaTimer):
        def flush(self) -> None:
            pass

    table = torch.rand(2**21, device="cuda")  # 8 MiB, which L2 holds
    rows = torch.randint(0, table.numel(), (2**19,), device="cuda")

    def gather() -> Any:
        return table[rows]

    cold = median_of(GraphSampler(CudaTimer(), gather))
    warm = median_of(GraphSampler(Unflushed(), gather))
    assert cold > 1.1 * warm


def test_a_call_that_synchronizes_falls_back_and_leaves_torch_usable() -> None:
    torch = load_torch()
    timer = CudaTimer()
    x = torch.rand(1000, device="cuda")
    stream = torch.cuda.current_stream()
    with pytest.raises(CaptureFailed):
        GraphSampler(timer, lambda: x.sum().item())
    assert torch.cuda.current_stream() == stream
    assert bool(torch.rand(10, device="cuda").isfinite().all())  # the generator draws again
    short_copy, _ = copy_call(4)
    assert timer.sampler(short_copy).method == "graph replay, cold L2"  # and captures work again


def test_work_on_another_stream_is_not_timed_as_an_empty_graph() -> None:
    torch = load_torch()
    x = torch.rand(1000, device="cuda")
    other = torch.cuda.Stream()

    def elsewhere() -> None:
        with torch.cuda.stream(other):
            x.add_(1.0)

    assert "launched nothing" in CudaTimer().sampler(elsewhere).method


def test_variants_take_turns() -> None:
    trace: list[str] = []

    def traced(name: str) -> Callable[[], None]:
        copy = long_call()  # timed by events, so that every sample is a call

        def call() -> None:
            trace.append(name)
            copy()

        return call

    time_interleaved(
        {"a": traced("a"), "b": traced("b")}, device="cuda", min_rounds=10, max_rounds=10, seconds=0.0
    )
    turns = trace[-20:]
    pairs = [tuple(turns[index : index + 2]) for index in range(0, 20, 2)]
    assert all(sorted(pair) == ["a", "b"] for pair in pairs)
    assert len(set(pairs)) == 2
