"""Choosing between configurations, with no clock: by what a run counts.

`@triton.autotune` and `triton.testing.do_bench` ask for a time. On the virtual GPU there is none, so each
candidate runs once, counted, and its cost by `flashpath.vgpu.cost`, in milliseconds, stands in the place of
the time. Equal costs go to the first in the list. The counts are the same in every run, and so is the choice.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any

from flashpath import gpus
from flashpath.vgpu.cost import cost_seconds
from flashpath.vgpu.report import Report
from flashpath.vgpu.triton_driver import parts


class Meter:
    """Adds up the cost of the launches that it sees."""

    def __init__(self) -> None:
        self.launches = 0
        self.seconds = 0.0

    def add(self, gpu: gpus.Gpu, report: Report, blocks: int, threads: int) -> None:
        self.launches += 1
        self.seconds += cost_seconds(gpu, report, blocks, threads)


@contextmanager
def _metered(driver: Any) -> Generator[Meter]:
    """Launches inside go to this meter alone: those of a benchmark inside a benchmark count there only."""
    meter = Meter()
    driver.meters.append(meter)
    try:
        yield meter
    finally:
        driver.meters.remove(meter)


def benchmark(
    call: Callable[[], object],
    warmup: float = 25,
    rep: float = 100,
    grad_to_none: Sequence[Any] | None = None,
    quantiles: Sequence[float] | None = None,
    return_mode: str = "mean",
) -> Any:
    """Stands in for `triton.testing.do_bench`: runs once, counted, and returns the cost in milliseconds.

    Every run counts the same, so all quantiles are equal and there is nothing to warm up or repeat. What
    launches no kernel on the virtual GPU has no known cost: NaN.
    """
    for tensor in grad_to_none or ():
        tensor.grad = None
    with _metered(parts.drivers.active) as meter:
        call()
    cost = meter.seconds * 1e3 if meter.launches else math.nan
    if quantiles is not None:
        return [cost] * len(quantiles) if len(quantiles) > 1 else cost
    return [cost] if return_mode == "all" else cost


# ---- Triton's own ways to time, while the virtual GPU is on --------------------------------------------

_tune_by_clock = parts.Autotuner.run
_time_by_clock = parts.testing.do_bench
# Triton keeps what an autotuner chose for the process, whatever the device; what was chosen by counts is
# kept here, by device, so that it never decides for a real GPU or for another profile.
_choices: weakref.WeakKeyDictionary[Any, dict[int, dict[Any, Any]]] = weakref.WeakKeyDictionary()
_MISSING = object()


def _tune_by_counts(autotuner: Any, *args: Any, **kwargs: Any) -> Any:
    device = parts.drivers.active.get_current_device()
    swapped: dict[str, Any] = {
        "cache": _choices.setdefault(autotuner, {}).setdefault(device, {}),
        "cache_results": False,  # the files of Triton's cache do not tell a played GPU from a real one
        "do_bench": benchmark,
    }
    state: dict[str, Any] = autotuner.__dict__
    before = {name: state.get(name, _MISSING) for name in swapped}
    state.update(swapped)
    try:
        return _tune_by_clock(autotuner, *args, **kwargs)
    finally:
        for name, value in before.items():
            if value is _MISSING:
                del state[name]
            else:
                state[name] = value


def by_counts() -> None:
    """Makes autotuners and `triton.testing.do_bench` go by counts from now on."""
    parts.Autotuner.run = _tune_by_counts
    parts.testing.do_bench = benchmark


def by_clock() -> None:
    """Give both back to Triton."""
    parts.Autotuner.run = _tune_by_clock
    parts.testing.do_bench = _time_by_clock
