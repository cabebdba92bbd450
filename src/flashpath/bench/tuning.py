"""Every configuration of a ladder's rungs on one case: how fast, and how far from the truth."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from typing import Any

from flashpath.bench.agreement import distance
from flashpath.bench.compare import compare
from flashpath.bench.counting import first_taken, summed
from flashpath.bench.device import resolve_device
from flashpath.bench.failure import FAILURES, Reason, describe, reason_of
from flashpath.bench.implementation import Implementation
from flashpath.bench.ladder import gpu_capability, why_not
from flashpath.errors import FlashpathError
from flashpath.jit import watch
from flashpath.kernels.rung import Case, Ladder, Rung
from flashpath.vgpu.cost import spread_cost_seconds
from flashpath.vgpu.report import Report


@dataclass(frozen=True)
class Tried:
    """One configuration: a rung and its options; none are what the rung chooses by itself.

    `seconds` is measured on a GPU, and the least that the roofline of the virtual one allows (`is_bound`)
    where there is none; the counts are of the virtual GPU. `error` is the largest distance from the float64
    result, in units of the largest element of that result.
    """

    rung: str
    options: Mapping[str, Any]
    seconds: float | None = None
    is_bound: bool = False
    cost: float | None = None
    """Seconds that the scarcest of what was counted needs at least (`flashpath.vgpu.cost`): no forecast."""
    instructions: int | None = None
    """PTX instructions of warps."""
    sectors: int | None = None
    """32-byte pieces of global memory that warps asked for."""
    bank_conflicts: int | None = None
    """Passes of shared memory beyond the first of each request."""
    error: float | None = None
    failure: Reason | None = None

    @property
    def name(self) -> str:
        chosen = ", ".join(f"{name}={value}" for name, value in self.options.items())
        return f"{self.rung}({chosen})" if chosen else self.rung


def configurations(rung: Rung) -> list[dict[str, Any]]:
    """Returns what the rung chooses by itself, then every combination of its choices."""
    if not rung.choices:
        return [{}]
    combined = itertools.product(*rung.choices.values())
    return [{}, *(dict(zip(rung.choices, values, strict=True)) for values in combined)]


@dataclass
class Tuning:
    """The options tried on one case, best first; those that have no time come last, with the reason."""

    case: Case
    tried: list[Tried] = field(default_factory=list[Tried])
    interrupted: bool = False  # by Ctrl-C: what was tried until then is here

    def __iter__(self) -> Iterator[Tried]:
        return iter(self.tried)

    def __len__(self) -> int:
        return len(self.tried)


def cases_of(rungs: Sequence[Rung], cases: Sequence[Case]) -> list[tuple[Case, list[Rung]]]:
    """Every rung with the first case that it takes: so each kind of problem that some rung is for is there.

    A rung that takes none of the cases stands with the first of them, where it says why.
    """
    groups: dict[str, tuple[Case, list[Rung]]] = {}
    for rung in rungs:
        case = first_taken(cases, rung)
        groups.setdefault(case.name, (case, []))[1].append(rung)
    return list(groups.values())


def tune(
    ladder: Ladder,
    case: Case,
    *,
    only: Sequence[str] | None = None,
    device: str | None = None,
    seconds: float = 0.2,
    progress: bool = True,
) -> Tuning:
    """Run every configuration on one case; Ctrl-C ends it and keeps what was tried.

    `only` names the rungs. Without a GPU all run on the virtual one, which has no clock: there the bound of
    its roofline stands in the place of a time, and the counted cost decides the order.
    """
    device = resolve_device(device)
    rungs = [ladder[name] for name in only] if only is not None else list(ladder.rungs)
    capability = gpu_capability() if device == "cuda" else None
    tuning = Tuning(case, interrupted=True)  # until the last configuration is done
    with suppress(KeyboardInterrupt):
        inputs, exact = _problem(ladder, case, device)
        for rung in rungs:
            reason = rung.declines(case) if rung.declines else None
            obstacle = reason
            if capability is not None:
                obstacle = obstacle or why_not(rung, capability)
            if obstacle:  # whatever its options: said once
                tuning.tried.append(Tried(rung.name, {}, failure=obstacle))
                continue
            for options in configurations(rung):
                tried = _examined(ladder, rung, options, case, inputs, exact, is_virtual=capability is None)
                tuning.tried.append(tried)
        tuning.interrupted = False
        if capability is not None:
            _time(ladder, tuning, seconds, progress)
    tuning.tried.sort(key=_rank)
    return tuning


def _problem(ladder: Ladder, case: Case, device: str) -> tuple[tuple[Any, ...], Any]:
    """The inputs of the case and its exact result, which may be more than the memory holds."""
    try:
        inputs = case.inputs(device)
        return inputs, ladder.truth(inputs) if ladder.truth else None
    except FlashpathError:
        raise
    except Exception as error:  # torch's words where memory is short are RuntimeError's too
        raise FlashpathError("bench.tuned-case-not-made", case=case.name, why=describe(error)) from None


def _rank(tried: Tried) -> tuple[float, int]:
    """Returns the key that sorts results by time, or by counted cost where there is no clock."""
    rank = tried.cost if tried.is_bound else tried.seconds
    return float("inf") if rank is None else rank, tried.instructions or 0


def _examined(
    ladder: Ladder,
    rung: Rung,
    options: Mapping[str, Any],
    case: Case,
    inputs: tuple[Any, ...],
    exact: Any,
    is_virtual: bool,
) -> Tried:
    """Run once: is it right, how far is it off, and what does the virtual GPU count?"""
    try:
        # On a real GPU nothing is watched: Triton's kernels would go to the virtual one.
        with watch() if is_virtual else nullcontext(list[Report]()) as reports:
            output = rung.function(*inputs, **options)
        error = None if exact is None else distance(output, exact)
        ladder.check(output, inputs)
    except FAILURES as failure:
        return Tried(rung.name, options, failure=reason_of(failure))
    if not is_virtual or not reports:
        return Tried(rung.name, options, error=error)
    modelled = [report for report in reports if report.roofline and report.occupancy]
    counted = summed(reports, case)
    return Tried(
        rung.name,
        options,
        seconds=sum(report.roofline.least_seconds for report in modelled if report.roofline),
        is_bound=True,
        cost=sum(map(spread_cost_seconds, modelled)),
        instructions=counted.warp_instructions,
        sectors=counted.sectors,
        bank_conflicts=counted.bank_conflicts,
        error=error,
    )


def _time(ladder: Ladder, tuning: Tuning, seconds: float, progress: bool) -> None:
    """Put times to what was tried, all interleaved in one run."""
    right = {tried.name: tried for tried in tuning if tried.failure is None}

    def call(tried: Tried) -> Callable[..., Any]:
        return functools.partial(ladder[tried.rung].function, **tried.options)

    implementations = {
        name: Implementation(call(tried), file=ladder[tried.rung].file) for name, tried in right.items()
    }
    if not implementations:
        return
    results = compare(
        implementations,
        [tuning.case],
        device="cuda",
        check=ladder.check,
        ceilings=False,
        seconds=seconds,
        progress=progress,
    )
    tuning.interrupted = results.interrupted
    times = {record.implementation: record for record in results.records}
    for index, tried in enumerate(tuning.tried):
        if record := times.get(tried.name):
            median = record.time.median if record.time else None
            tuning.tried[index] = Tried(
                tried.rung, tried.options, median, error=tried.error, failure=record.error
            )
