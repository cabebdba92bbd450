"""Every configuration of a ladder's rungs on one case: how fast, and how far from the truth."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flashpath.bench.agreement import distance
from flashpath.bench.compare import compare
from flashpath.bench.device import resolve_device
from flashpath.bench.failure import FAILURES, describe
from flashpath.bench.implementation import Implementation
from flashpath.bench.ladder import gpu_capability, why_not
from flashpath.jit import watch
from flashpath.kernels.rung import Case, Ladder, Rung


@dataclass(frozen=True)
class Tried:
    """One configuration: a rung and its options; none are what the rung chooses by itself.

    `seconds` is measured on a GPU, and the least that the roofline of the virtual one allows (`is_bound`)
    where there is none. `error` is the largest distance from the float64 result, in units of the largest
    element of that result.
    """

    rung: str
    options: Mapping[str, Any]
    seconds: float | None = None
    is_bound: bool = False
    instructions: int | None = None
    """PTX instructions of warps, counted on the virtual GPU."""
    error: float | None = None
    failure: str | None = None

    @property
    def name(self) -> str:
        chosen = ", ".join(f"{name}={value}" for name, value in self.options.items())
        return f"{self.rung}({chosen})" if chosen else self.rung


def configurations(rung: Rung) -> list[dict[str, Any]]:
    """What the rung chooses by itself, then every combination of its choices."""
    if not rung.choices:
        return [{}]
    combined = itertools.product(*rung.choices.values())
    return [{}, *(dict(zip(rung.choices, values, strict=True)) for values in combined)]


def tune(
    ladder: Ladder,
    case: Case,
    *,
    only: Sequence[str] | None = None,
    device: str | None = None,
    seconds: float = 0.2,
    progress: bool = True,
) -> list[Tried]:
    """Run every configuration, fastest first; those that have no time come last, with the reason.

    `only` names the rungs. Without a GPU all run on the virtual one, which has no clock: there the bound of
    its roofline stands in the place of a time.
    """
    device = resolve_device(device)
    rungs = [ladder[name] for name in only] if only is not None else list(ladder.rungs)
    capability = gpu_capability() if device == "cuda" else None
    tried: list[Tried] = []
    inputs = case.inputs(device)
    exact = ladder.truth(inputs) if ladder.truth else None
    for rung in rungs:
        obstacle = rung.declines(case) if rung.declines else None
        if capability is not None:
            obstacle = obstacle or why_not(rung, capability)
        if obstacle:  # whatever its options: said once
            tried.append(Tried(rung.name, {}, failure=obstacle))
            continue
        for options in configurations(rung):
            tried.append(_examined(ladder, rung, options, inputs, exact, is_virtual=capability is None))
    if capability is not None:
        tried = _timed(ladder, case, tried, seconds, progress)
    return sorted(tried, key=_rank)


def _rank(tried: Tried) -> tuple[float, int]:
    """By time; bounds are often the same, and then fewer instructions come first."""
    return float("inf") if tried.seconds is None else tried.seconds, tried.instructions or 0


def _examined(
    ladder: Ladder,
    rung: Rung,
    options: Mapping[str, Any],
    inputs: tuple[Any, ...],
    exact: Any,
    is_virtual: bool,
) -> Tried:
    """Run once: is it right, how far is it off, and what does the virtual GPU count?"""
    try:
        with watch() as reports:
            output = rung.function(*inputs, **options)
        error = None if exact is None else distance(output, exact)
        ladder.check(output, inputs)
    except FAILURES as failure:
        return Tried(rung.name, options, failure=describe(failure))
    if not is_virtual or not reports:
        return Tried(rung.name, options, error=error)
    bound = sum(report.roofline.least_seconds for report in reports if report.roofline)
    count = sum(report.warp_instructions for report in reports)
    return Tried(rung.name, options, bound, is_bound=True, instructions=count, error=error)


def _timed(ladder: Ladder, case: Case, tried: Sequence[Tried], seconds: float, progress: bool) -> list[Tried]:
    """The same with times, all interleaved in one run."""
    right = {each.name: each for each in tried if each.failure is None}

    def call(each: Tried) -> Callable[..., Any]:
        return functools.partial(ladder[each.rung].function, **each.options)

    implementations = {
        name: Implementation(call(each), file=ladder[each.rung].file) for name, each in right.items()
    }
    if not implementations:
        return list(tried)
    results = compare(
        implementations,
        [case],
        device="cuda",
        check=ladder.check,
        ceilings=False,
        seconds=seconds,
        progress=progress,
    )
    times = {record.implementation: record for record in results.records}
    timed: list[Tried] = []
    for each in tried:
        record = times.get(each.name)
        if record is None:
            timed.append(each)
        else:
            median = record.time.median if record.time else None
            timed.append(Tried(each.rung, each.options, median, error=each.error, failure=record.error))
    return timed
