"""Compare implementations: correct first, then timed, all of them interleaved in one run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from flashpath.bench.ceilings import Bound, Ceilings, ceilings_of_cpu_case, measure_ceilings
from flashpath.bench.eager import EagerTimer, as_called
from flashpath.bench.environment import Environment, read_environment
from flashpath.bench.implementation import Implementation, Implementations, collect
from flashpath.bench.known_peers import known_peers
from flashpath.bench.problems import Cases, as_cases
from flashpath.bench.record import Record, Time
from flashpath.bench.table import progress_bar, table_text
from flashpath.bench.table import seconds as shown
from flashpath.bench.timer import Timer, Timing, Timings
from flashpath.bench.trial import Check, Trial
from flashpath.errors import FlashpathError
from flashpath.kernels.rung import Case
from flashpath.messages import told


@dataclass
class Results:
    """The records of a comparison, what they were measured on, and the ceilings of the same run.

    `ceilings` is None on a CPU, where every case is measured against ceilings of its own.
    """

    environment: Environment
    ceilings: Ceilings | None = None
    records: list[Record] = field(default_factory=list[Record])
    interrupted: bool = False

    def table(self) -> str:
        """The records as text, a table per case."""
        return table_text(self.records)

    def __iter__(self) -> Iterator[Record]:
        return iter(self.records)

    def __len__(self) -> int:
        return len(self.records)


def compare(
    implementations: Implementations,
    cases: Cases,
    *,
    device: str | None = None,
    peers: Implementations | Collection[str] = (),
    check: Check | None = None,
    truth: Callable[[tuple[Any, ...]], Any] | None = None,
    ceilings: bool | Ceilings = True,
    seconds: float = 0.5,
    progress: bool = True,
    on_record: Callable[[Record], None] | None = None,
    ladder: str | None = None,
    timer: Timer | None = None,
    eager: bool | Timer = False,
) -> Results:
    """Check every implementation on every case, time those that are right, and record it all.

    `check(output, inputs)` raises where an output is wrong; without one, outputs are compared with those of
    the first implementation. With `truth`, inputs → the exact result, a peer that fails the check but is near
    the truth is timed all the same, and its record says so. `ceilings` are measured, left out (False), or
    given from an earlier measurement. `seconds` is the time spent on each implementation of each case.
    `on_record` gets each record as soon as its case is done; Ctrl-C ends the run and keeps what was measured.
    `eager` also times calls as a person makes them on a GPU, in a row and with the host counted.
    """
    check_seconds(seconds)
    compared = collect(implementations, peers)
    problems, device = as_cases(cases, device)
    eager_timer = _eager_timer(eager, device)
    has_own_ceilings = ceilings is True and device == "cpu"
    measured = None if has_own_ceilings else measured_ceilings(ceilings, device, problems)
    results = Results(read_environment(device), measured, interrupted=True)  # until the last case is done
    with progress_bar(len(problems) * len(compared), progress) as advance, suppress(KeyboardInterrupt):
        for case in problems:
            trial = Trial(case, device, check, truth, is_ready=isinstance(cases, Mapping))
            for name, implementation in compared.items():
                trial.examine(name, implementation)
                advance(f"{case.name} · {name}")
            trial.forget_truth()
            limits = ceilings_of_cpu_case(trial.case) if has_own_ceilings and trial.calls else measured
            timings = trial.time(seconds, timer)
            discard_wrong_times(trial, timings)
            discard_impossible_times(trial, timings, limits)
            in_a_row = Timings()
            if eager_timer is not None and not timings.interrupted:
                timed = {name: call for name, call in trial.calls.items() if timings[name].error is None}
                in_a_row = trial.time(seconds, eager_timer, as_called(timed, trial.peers))
            for record in make_records(
                trial, compared, timings, results.environment, limits, ladder, in_a_row
            ):
                results.records.append(record)
                if on_record:
                    on_record(record)
            if timings.interrupted or in_a_row.interrupted:
                return results
            # The next case needs the memory of this one.
            del trial
        results.interrupted = False
    return results


def check_seconds(seconds: object) -> None:
    is_time = isinstance(seconds, (int, float)) and 0 <= seconds < float("inf")
    if not is_time or isinstance(seconds, bool):
        raise FlashpathError("bench.no-time-span", seconds=repr(seconds))


# What was read stays in caches and what is written need not have arrived: a little beyond what a copy reaches
# is possible, twice as much is not.
_FASTEST = 2.0


def discard_impossible_times(trial: Trial, timings: Timings, ceilings: Ceilings | None) -> None:
    """A call in which not even the bytes of the case can be moved did not do the work that was timed.

    How much of a caller's own arguments has to be read is not known.
    """
    if trial.is_ready:
        return
    rates = (ceilings.copy_bytes_per_s, ceilings.read_bytes_per_s) if ceilings else ()
    fastest = _FASTEST * max((rate for rate in rates if rate), default=float("inf"))
    least = trial.case.bytes / fastest
    for name, timing in timings.items():
        if timing.median is not None and timing.median < least:
            code = "bench.faster-than-memory"
            timings[name] = Timing.failed(told(code, seconds=shown(timing.median), least=shown(least)))


def discard_wrong_times(trial: Trial, timings: Timings) -> None:
    """Check what was timed once more, on new data; a time of something wrong is no time."""
    if timings.interrupted:
        return
    try:
        timed = [name for name, timing in timings.items() if timing.error is None]
        timings.update({name: Timing.failed(error) for name, error in trial.recheck(timed).items()})
    except KeyboardInterrupt:
        timings.interrupted = True


def _eager_timer(eager: bool | Timer, device: str) -> Timer | None:
    if isinstance(eager, bool):
        if eager and device != "cuda":
            raise FlashpathError("bench.eager-without-gpu")
        return EagerTimer() if eager else None
    return eager


def measured_ceilings(wish: bool | Ceilings, device: str, cases: list[Case]) -> Ceilings | None:
    if isinstance(wish, Ceilings):
        return wish
    return measure_ceilings(device, [case.dtype for case in cases if case.flops]) if wish else None


def make_records(
    trial: Trial,
    compared: Mapping[str, Implementation],
    timings: Mapping[str, Timing],
    environment: Environment,
    ceilings: Ceilings | None,
    ladder: str | None,
    eager: Mapping[str, Timing],
) -> list[Record]:
    """A record of every implementation of one case, the failed ones too."""
    known = known_peers(ladder, trial.case, timings, ceilings)
    peers = [timing.median for name, timing in timings.items() if compared[name].is_peer and timing.median]
    fastest = min([*peers, *(time.median for time in known.values())], default=None)
    bound = ceilings.bound(trial.case, trial.written_bytes) if ceilings else None
    environment = environment.with_clocks_now()
    timestamp = datetime.now(UTC).isoformat(timespec="seconds")
    records: list[Record] = []
    for name, implementation in compared.items():
        timing = timings.get(name) or Timing.failed(trial.errors[name])
        record = Record(
            implementation=name,
            case=trial.case.name,
            environment=environment,
            timestamp=timestamp,
            parameters=dict(trial.case.parameters),
            ladder=ladder,
            language=implementation.language,
            is_peer=implementation.is_peer,
            time=Time.of(timing),
            eager=Time.of(eager[name]) if name in eager else None,
            peak_memory_bytes=trial.peak_memory_bytes.get(name),
            distance=trial.distances.get(name),
            ceiling=bound.ceiling if bound else None,
            lines_of_code=implementation.lines_of_code,
            dev_hours=implementation.dev_hours,
            portability=implementation.portability,
            readability=implementation.readability,
            debugging=implementation.debugging,
            error=timing.error or trial.notes.get(name),
            skipped=implementation.obstacle_to(trial.case) is not None,
        )
        records.append(with_rates(record, trial.case, bound, fastest))
    for name, time in known.items():
        record = Record(
            implementation=name,
            case=trial.case.name,
            environment=environment,
            timestamp=timestamp,
            parameters=dict(trial.case.parameters),
            ladder=ladder,
            is_peer=True,
            time=time,
            ceiling=bound.ceiling if bound else None,
        )
        records.append(with_rates(record, trial.case, bound, fastest))
    return records


def with_rates(record: Record, case: Case, bound: Bound | None, fastest: float | None) -> Record:
    """The time set against what the case costs, the fastest peer and the ceiling."""
    median = record.time.median if record.time else 0.0
    if median == 0.0:  # failed, or below the clock's resolution
        return record
    return replace(
        record,
        gb_per_s=case.bytes / median / 1e9 if case.bytes else None,
        tflop_per_s=case.flops / median / 1e12 if case.flops else None,
        ratio_to_fastest_peer=fastest / median if fastest else None,
        fraction_of_ceiling=bound.seconds / median if bound else None,
    )
