"""What the rungs of a ladder do on the virtual GPU, counted; and how fast they were when last measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from flashpath import settings
from flashpath.bench.failure import FAILURES, describe
from flashpath.bench.record import Record, load
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


def sample_case(ladder: Ladder) -> Case:
    """The problem that the rungs of a ladder are counted on."""
    if ladder.sized is None:
        raise FlashpathError(f"The ladder {ladder.name!r} has no sample for the virtual GPU.")
    return ladder.sized(ladder.sample)


def last_measured(ladder: Ladder) -> dict[str, Record]:
    """The newest record of each rung, all of one case: the one most have a time for, then the longest."""
    records = newest([record for record in _records() if record.ladder == ladder.name and record.time])
    by_case: dict[str, list[Record]] = {}
    for record in records:
        by_case.setdefault(record.case, []).append(record)

    def weight(case: str) -> tuple[int, float]:
        rungs = [record for record in by_case[case] if not record.is_peer]
        return len(rungs), sum(record.time.median for record in rungs if record.time)

    chosen = max(by_case, key=weight, default=None)
    return {record.implementation: record for record in by_case.get(chosen or "", [])}


def _records() -> Iterator[Record]:
    try:
        folder = settings.content_dir("benchmarks/results")
    except FlashpathError:
        return
    for file in sorted(folder.glob("*.jsonl")):
        yield from load(file)
