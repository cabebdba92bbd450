"""What the rungs of a ladder do on the virtual GPU, counted; and how fast they were when last measured."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flashpath import settings
from flashpath.bench.failure import FAILURES, describe
from flashpath.bench.record import Record
from flashpath.bench.record_files import load_runs
from flashpath.bench.report import newest
from flashpath.errors import FlashpathError
from flashpath.jit import watch
from flashpath.kernels.rung import Case, Ladder, Rung
from flashpath.vgpu.report import Report

_SECTOR_BYTES = 32


@dataclass(frozen=True)
class Counted:
    """The launches of one call of a rung, together."""

    launches: int = 0
    warp_instructions: int = 0
    global_bytes: int = 0
    """Sectors of 32 bytes that warps asked global memory for: caches may answer some of them."""
    global_requests: int = 0
    times_least: float | None = None
    """These bytes over the least that the problem itself must move."""
    shared_requests: int = 0
    bank_conflicts: int = 0
    failure: str | None = None

    @property
    def sectors(self) -> int:
        return self.global_bytes // _SECTOR_BYTES

    @property
    def sectors_per_request(self) -> float | None:
        return self.sectors / self.global_requests if self.global_requests else None


def count(rung: Rung, case: Case, device: str | None = None) -> Counted:
    """Run the rung once on the virtual GPU. A rung of PyTorch launches nothing that could be counted."""
    if rung.declines and (reason := rung.declines(case)):
        return Counted(failure=reason.text())
    try:
        with watch(device) as reports:
            rung(*case.inputs("cpu"))
    except FAILURES as error:
        return Counted(failure=describe(error))
    return summed(reports, case)


def summed(reports: Sequence[Report], case: Case) -> Counted:
    traffic = [
        part for report in reports for part in (report.global_load, report.global_store, report.global_atomic)
    ]
    shared = [
        part for report in reports for part in (report.shared_load, report.shared_store, report.shared_atomic)
    ]
    moved = _SECTOR_BYTES * sum(part.sectors for part in traffic)
    return Counted(
        launches=len(reports),
        warp_instructions=sum(report.warp_instructions for report in reports),
        global_bytes=moved,
        global_requests=sum(part.requests for part in traffic),
        times_least=moved / case.bytes if case.bytes and reports else None,
        shared_requests=sum(part.requests for part in shared),
        bank_conflicts=sum(part.bank_conflicts for part in shared),
    )


def samples(ladder: Ladder) -> list[Case]:
    """The problems that the rungs of a ladder are counted on, each on the first that it takes."""
    if ladder.sized is None:
        raise FlashpathError("bench.no-sample", ladder=ladder.name)
    return [ladder.sized(ladder.sample), *(ladder.more_samples() if ladder.more_samples else ())]


def first_taken(cases: Sequence[Case], *rungs: Rung) -> Case:
    """The first case that one of the rungs takes; the first of all where they take none."""

    def is_taken(case: Case) -> bool:
        return any(rung.declines is None or rung.declines(case) is None for rung in rungs)

    return next(filter(is_taken, cases), cases[0])


def last_measured(ladder: Ladder) -> list[dict[str, Record]]:
    """The newest record of each rung, in groups of one case each, peers with them.

    The first case is of the kind that the ladder's sizes are of, if there is one; of these the one that most
    rungs have a time for, then whose problem most have one for in all its kinds, then the longest. Then of
    the rungs that are left, beside the reference: the same problem, in the backward direction for one, if
    they have a time for it.
    """
    records = newest([record for record in _records() if record.ladder == ladder.name and record.time])
    left = {rung.name for rung in ladder}
    groups: list[dict[str, Record]] = []
    kind = _kind(ladder.sized(ladder.sample).parameters) if ladder.sized and ladder.sample else {}
    first = ladder.reference.name
    problem: dict[str, Any] | None = None
    while group := _of_one_case(
        [record for record in records if record.is_peer or record.implementation in (*left, first)],
        left,
        kind,
        problem,
    ):
        groups.append(group)
        left -= group.keys()
        problem = problem or _problem(next(iter(group.values())).parameters)
    return groups


def _kind(parameters: Mapping[str, Any]) -> dict[str, str]:
    """Returns what a problem is, without its size: forward, float32, …"""
    return {name: value for name, value in parameters.items() if isinstance(value, str)}


def _problem(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """All else: how large it is, under which mask, …"""
    return {name: value for name, value in parameters.items() if not isinstance(value, str)}


def _of_one_case(
    records: Sequence[Record],
    names: Collection[str],
    kind: Mapping[str, str],
    problem: Mapping[str, Any] | None,
) -> dict[str, Record]:
    """The records of the best case to show of those with a wanted rung; none where there is no such case."""
    by_case: dict[str, list[Record]] = {}
    for record in records:
        by_case.setdefault(record.case, []).append(record)

    def rungs(case: str) -> list[Record]:
        return [record for record in by_case[case] if record.implementation in names]

    def weight(case: str) -> tuple[bool, bool, int, int, float]:
        parameters = by_case[case][0].parameters
        same = _problem(parameters)
        of_problem = {
            record.implementation
            for other, records in by_case.items()
            for record in rungs(other)
            if _problem(records[0].parameters) == same
        }
        longest = sum(record.time.median for record in rungs(case) if record.time)
        is_usual = _kind(parameters) == kind
        return same == problem, is_usual, len(rungs(case)), len(of_problem), longest

    chosen = max(filter(rungs, by_case), key=weight, default=None)
    return {record.implementation: record for record in by_case[chosen]} if chosen is not None else {}


def _records() -> list[Record]:
    try:
        return load_runs(settings.content_dir("benchmarks/results"))
    except FlashpathError:
        return []
