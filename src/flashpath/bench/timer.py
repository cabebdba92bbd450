"""The one timer: every variant warmed up, then all of them sampled in turn, in one run.

Clocks, power and temperature drift while a benchmark runs. Variants timed one after the other each get a
different machine; variants sampled round by round, in shuffled order, share its ups and downs.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from flashpath.bench.device import resolve_device
from flashpath.bench.failure import FAILURES, Reason, reason_of
from flashpath.messages import told

Function = Callable[[], Any]


def nothing() -> None:
    """What is done before a call where nothing is."""


@dataclass(frozen=True)
class Timing:
    """The time that one variant took, in seconds; `error` says why where there is no time."""

    median: float | None
    p20: float | None
    p80: float | None
    samples: tuple[float, ...]
    method: str
    error: Reason | None = None

    @classmethod
    def of(cls, samples: Sequence[float], method: str) -> Timing:
        if len(samples) == 1:
            return cls(samples[0], samples[0], samples[0], tuple(samples), method)
        fifths = statistics.quantiles(samples, n=5, method="inclusive")
        return cls(statistics.median(samples), fifths[0], fifths[3], tuple(samples), method)

    @classmethod
    def failed(cls, error: Reason) -> Timing:
        return cls(None, None, None, (), "", error)


class Timings(dict[str, Timing]):
    """One `Timing` per variant; `interrupted` where Ctrl-C ended the run early."""

    interrupted: bool = False


class Sampler(Protocol):
    """Times one variant, a few calls at a time; `method` says how."""

    @property
    def method(self) -> str: ...

    def sample(self) -> Sequence[float]: ...


class Timer(Protocol):
    """A clock for one kind of device."""

    def warm_up(self, function: Function, calls: int) -> None: ...

    def sampler(self, function: Function, before: Function = nothing) -> Sampler:
        """`before` is called before each call of the function, and is not timed."""
        ...


class CpuTimer:
    """Times calls that have finished when they return."""

    def __init__(self, clock_ns: Callable[[], int] = time.perf_counter_ns) -> None:
        self.clock_ns = clock_ns

    def warm_up(self, function: Function, calls: int) -> None:
        for _ in range(calls):
            function()

    def sampler(self, function: Function, before: Function = nothing) -> Sampler:
        return CpuSampler(function, self.clock_ns, before)


@dataclass(frozen=True)
class CpuSampler:
    function: Function
    clock_ns: Callable[[], int]
    before: Function = nothing
    method: str = "perf_counter, warm caches"

    def sample(self) -> Sequence[float]:
        self.before()
        start = self.clock_ns()
        self.function()
        return [(self.clock_ns() - start) / 1e9]


def timer_for(device: str) -> Timer:
    """The timer of a device named by `resolve_device`."""
    if device == "cpu":
        return CpuTimer()
    from flashpath.bench.cuda_timer import CudaTimer

    return CudaTimer()


@dataclass
class _Variant:
    """One function on its way through the rounds."""

    function: Function
    sampler: Sampler | None = None
    samples: list[float] = field(default_factory=list[float])
    rounds: int = 0
    seconds: float = 0.0
    error: Reason | None = None

    def prepare(self, timer: Timer, warm_up_calls: int, before: Function) -> None:
        try:
            timer.warm_up(self.function, warm_up_calls)
            self.sampler = timer.sampler(self.function, before)
        except FAILURES as error:
            self.error = reason_of(error)

    def rehearse(self) -> None:
        """One sample that does not count: preparing the others may have emptied caches and pools."""
        if self.sampler is not None:
            try:
                self.sampler.sample()
            except FAILURES as error:
                self.error = reason_of(error)

    def take_turn(self, clock: Callable[[], float]) -> None:
        assert self.sampler is not None
        start = clock()
        try:
            self.samples.extend(self.sampler.sample())
        except FAILURES as error:
            self.error = reason_of(error)
        self.rounds += 1
        self.seconds += clock() - start

    def timing(self) -> Timing:
        if self.error is not None:
            return Timing.failed(self.error)
        if self.sampler is None or not self.samples:
            return Timing.failed(told("bench.interrupted"))
        return Timing.of(self.samples, self.sampler.method)


def time_interleaved(
    functions: Mapping[str, Function],
    *,
    device: str | None = None,
    seconds: float = 0.5,
    min_rounds: int = 5,
    max_rounds: int = 500,
    warm_up_calls: int = 3,
    seed: int = 0,
    timer: Timer | None = None,
    clock: Callable[[], float] = time.perf_counter,
    before: Function = nothing,
) -> Timings:
    """Time every function, all of them interleaved; `before` is called before each call that is timed.

    `seconds` is the budget of each variant, not of all together: a variant leaves the rounds once it has
    spent its budget and taken `min_rounds` turns, so a slow one does not keep the fast ones from their
    samples. A variant that raises is reported as failed and the others go on; Ctrl-C keeps what was measured.
    """
    variants = {name: _Variant(function) for name, function in functions.items()}
    timings = Timings()
    shuffler = random.Random(seed)
    try:
        timer = timer or timer_for(resolve_device(device))
        for variant in variants.values():
            variant.prepare(timer, warm_up_calls, before)
        for variant in variants.values():
            variant.rehearse()
        for _ in range(max_rounds):
            turn = [
                variant
                for variant in variants.values()
                if variant.error is None and (variant.rounds < min_rounds or variant.seconds < seconds)
            ]
            if not turn:
                break
            shuffler.shuffle(turn)
            for variant in turn:
                variant.take_turn(clock)
    except KeyboardInterrupt:
        timings.interrupted = True
    timings.update((name, variant.timing()) for name, variant in variants.items())
    return timings
