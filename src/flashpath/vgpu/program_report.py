"""What a run of a whole program counted: its launches together, its copies, what it allocated."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from flashpath.vgpu.report.counts import Counts

if TYPE_CHECKING:
    from flashpath.vgpu._engine import LaunchResult
    from flashpath.vgpu.recorded import RecordedAllocation, RecordedCopy, Recording


@dataclass
class Copies:
    """The copies of one direction."""

    count: int = 0
    bytes: int = 0
    pinned: int = 0
    """Those without pageable memory at either end, which the link's engine makes by itself."""

    def add(self, copy: RecordedCopy) -> None:
        """Count one more."""
        self.count += 1
        self.bytes += copy.bytes
        self.pinned += copy.is_pinned


@dataclass
class Allocations:
    """The memory of one kind that a program asked for, freed or not."""

    count: int = 0
    bytes: int = 0


@dataclass
class ProgramReport(Counts):
    """The counts of all launches of a program together, and what its host code asked for."""

    launches: int = 0
    to_device: Copies = field(default_factory=Copies)
    to_host: Copies = field(default_factory=Copies)
    within_device: Copies = field(default_factory=Copies)
    device_memory: Allocations = field(default_factory=Allocations)
    pinned_memory: Allocations = field(default_factory=Allocations)
    managed_memory: Allocations = field(default_factory=Allocations)
    seconds: float = 0.0
    """The GPU's time by the model's clock, up to the last operation that was waited for: a bound."""

    @staticmethod
    def of(recording: Recording) -> ProgramReport:
        """Returns the counts of a run that was recorded; launches are there where they were counted."""
        report = ProgramReport(launches=len(recording.launches), seconds=recording.seconds)
        for launch in recording.launches:
            for place, row in launch.kernel.listing.sums(cast("LaunchResult", launch)):
                report.add(place.opcode, row)
        report._add_copies(recording.copies)
        report._add_allocations(recording.allocations)
        return report

    def _add_copies(self, copies: Iterable[RecordedCopy]) -> None:
        kinds = {
            "copy, host to device": self.to_device,
            "copy, device to host": self.to_host,
            "copy, device to device": self.within_device,
        }
        for copy in copies:
            if copy.name in kinds:
                kinds[copy.name].add(copy)

    def _add_allocations(self, allocations: Iterable[RecordedAllocation]) -> None:
        kinds = {
            "device": self.device_memory,
            "pinned": self.pinned_memory,
            "managed": self.managed_memory,
        }
        for made in allocations:
            kinds[made.memory].count += 1
            kinds[made.memory].bytes += made.bytes
