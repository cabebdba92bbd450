"""What the rungs of a ladder do on the virtual GPU, counted; and how fast they were when last measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flashpath import settings
from flashpath.bench.failure import FAILURES, describe
from flashpath.bench.record import Record, load_runs
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
    def sectors_per_request(self) -> float | None:
        return self.global_bytes / _SECTOR_BYTES / self.global_requests if self.global_requests else None


def count(rung: Rung, case: Case, device: str | None = None) -> Counted:
    """Run the rung once on the virtual GPU. A rung of PyTorch launches nothing that could be counted."""
    if rung.declines and (reason := rung.declines(case)):
        return Counted(failure=reason)
    try:
        with watch(device) as reports:
            rung(*case.inputs("cpu"))
    except FAILURES as error:
        return Counted(failure=describe(error))
    return summed(reports, case)


def summed(reports: Sequence[Report], case: Case) -> Counted:
    traffic = [
        each for report in reports for each in (report.global_load, report.global_store, report.global_atomic)
    ]
    shared = [
        each for report in reports for each in (report.shared_load, report.shared_store, report.shared_atomic)
    ]
    moved = _SECTOR_BYTES * sum(each.sectors for each in traffic)
    return Counted(
        launches=len(reports),
        warp_instructions=sum(report.warp_instructions for report in reports),
        global_bytes=moved,
        global_requests=sum(each.requests for each in traffic),
        times_least=moved / case.bytes if case.bytes and reports else None,
        shared_requests=sum(each.requests for each in shared),
        bank_conflicts=sum(each.bank_conflicts for each in shared),
    )


def samples(ladder: Ladder) -> list[Case]:
    """The problems that the rungs of a ladder are counted on, each on the first that it takes."""
    if ladder.sized is None:
        raise FlashpathError(f"The ladder {ladder.name!r} has no sample for the virtual GPU.")
    return [ladder.sized(ladder.sample), *(ladder.more_samples() if ladder.more_samples else ())]


def first_taken(cases: Sequence[Case], *rungs: Rung) -> Case:
    """The first case that one of the rungs takes; the first of all where they take none."""

    def is_taken(case: Case) -> bool:
        return any(rung.declines is None or rung.declines(case) is None for rung in rungs)

    return next(filter(is_taken, cases), cases[0])


def last_measured(ladder: Ladder) -> list[dict[str, Record]]:
    """The newest record of each rung, in groups of one case each, peers with them.

    The first case is the one that most rungs have a time for, then the longest; then the same of the rungs
    that are left.
    """
    records = newest([record for record in _records() if record.ladder == ladder.name and record.time])
    left = {rung.name for rung in ladder}
    groups: list[dict[str, Record]] = []
    while group := _of_one_case(
        [record for record in records if record.is_peer or record.implementation in left]
    ):
        groups.append(group)
        left -= group.keys()
    return groups


def _of_one_case(records: Sequence[Record]) -> dict[str, Record]:
    """The records of the case with the most rungs, then the longest; none where there is no rung."""
    by_case: dict[str, list[Record]] = {}
    for record in records:
        by_case.setdefault(record.case, []).append(record)

    def weight(case: str) -> tuple[int, float]:
        rungs = [record for record in by_case[case] if not record.is_peer]
        return len(rungs), sum(record.time.median for record in rungs if record.time)

    chosen = by_case.get(max(by_case, key=weight, default=""), [])
    has_rung = any(not record.is_peer for record in chosen)
    return {record.implementation: record for record in chosen} if has_rung else {}


def _records() -> list[Record]:
    try:
        return load_runs(settings.content_dir("benchmarks/results"))
    except FlashpathError:
        return []
