"""Eager calls, as a person makes them: one after the other, nobody waiting in between, and the host counted.

Where the GPU is the longer of the two, such a call takes what its kernels take; where the host is, it takes
what the host does for it. A rung is called as the operators call theirs, through a plan.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flashpath.bench.device import load_torch
from flashpath.bench.timer import Function, Sampler, nothing

CALLS_IN_A_ROW = 20
METHOD = "eager calls in a row"


class EagerTimer:
    """Times calls in a row until the GPU has done them."""

    def __init__(self, clock_ns: Callable[[], int] = time.perf_counter_ns) -> None:
        self._clock_ns = clock_ns

    def warm_up(self, function: Function, calls: int) -> None:
        for _ in range(calls):
            function()

    def sampler(self, function: Function, before: Function = nothing) -> Sampler:
        """`before` is called once before each row of calls: between them it would be timed."""
        return _EagerSampler(function, before, self._clock_ns, load_torch().cuda.synchronize)


@dataclass(frozen=True)
class _EagerSampler:
    function: Function
    before: Function
    clock_ns: Callable[[], int]
    wait: Callable[[], object]
    method: str = METHOD

    def sample(self) -> Sequence[float]:
        self.before()
        self.wait()
        start = self.clock_ns()
        for _ in range(CALLS_IN_A_ROW):
            self.function()
        self.wait()
        return [(self.clock_ns() - start) / 1e9 / CALLS_IN_A_ROW]


def as_called(calls: Mapping[str, Any], peers: set[str]) -> dict[str, Function]:
    """The calls with plans for all but the peers, which are called as they are."""
    return {name: call if name in peers else _with_plan(call) for name, call in calls.items()}


def _with_plan(call: Any) -> Function:
    from flashpath.ops.plans import planned_without_gradient  # torch with it

    function, args = planned_without_gradient(call.func), call.args
    return lambda: function(*args)
