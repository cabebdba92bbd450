"""What a whole program wrote about its run (the runtime's record.h): its launches, copies and findings."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np

from flashpath import gpus
from flashpath.gpus.shape import LaunchShape
from flashpath.messages import Message
from flashpath.vgpu.cubin import Resources
from flashpath.vgpu.findings import Dim3, Finding, Kind, Party, by_cause, merged, without_notes
from flashpath.vgpu.host_findings import HostFinding, HostParty, Stack, merged_of_host
from flashpath.vgpu.report import Report, make_report
from flashpath.vgpu.report.listing import Listing

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from flashpath.vgpu._engine import LaunchResult, Program


@dataclass(frozen=True)
class RecordedKernel:
    """A kernel of the program, as the engine ran it: what `Listing` reads of it."""

    name: str
    resources: Resources
    files: list[str]
    origins: list[tuple[str, int, int, int, int, int]]
    libraries: Mapping[int, str]

    @functools.cached_property
    def listing(self) -> Listing:
        """Its instructions beside their places in the source."""
        return Listing(cast("Program", self), self.libraries)


@dataclass(frozen=True)
class RecordedLaunch:
    """One launch, with what `make_report` reads of an engine's own result."""

    kernel: RecordedKernel
    grid: Dim3
    block: Dim3
    dynamic_shared: int
    device: int
    stream: int
    seconds: float
    """The bound of the model that events of the program were given."""
    memory_sectors: int
    global_allocated: int
    global_touched: int
    counter_names: list[str] = field(repr=False)
    counts: list[list[int]] = field(repr=False)
    accesses: tuple[()] = ()

    @property
    def instructions(self) -> NDArray[np.uint64]:
        """The engine's table: a row for each instruction, also for those that did not run."""
        table = np.zeros((len(self.kernel.origins), len(self.counter_names)), np.uint64)
        for index, *row in self.counts:
            table[index] = row
        return table

    def report(self, gpu: gpus.Gpu) -> Report:
        """Returns the report that `fp.profile` gives for a single launch."""
        kernel, result = self.kernel, cast("LaunchResult", self)
        shape = LaunchShape(self.grid, self.block, self.dynamic_shared)
        return make_report(kernel.name, gpu, kernel.listing, result, shape, kernel.resources)


@dataclass(frozen=True)
class RecordedCopy:
    """A copy that was made: its direction as "copy, host to device", its bytes."""

    name: str
    bytes: int
    is_pinned: bool
    """Whether no end of it is pageable memory of the host."""


@dataclass(frozen=True)
class RecordedAllocation:
    """Memory that was given: "device", "pinned" or "managed"."""

    memory: str
    bytes: int


@dataclass
class Recording:
    """All that a run wrote."""

    launches: list[RecordedLaunch] = field(default_factory=list[RecordedLaunch])
    copies: list[RecordedCopy] = field(default_factory=list[RecordedCopy])
    allocations: list[RecordedAllocation] = field(default_factory=list[RecordedAllocation])
    findings: list[Finding] = field(default_factory=list[Finding])
    host_findings: list[HostFinding] = field(default_factory=list[HostFinding])
    host_findings_before: list[int] = field(default_factory=list[int])
    """For each finding of a kernel, how many of the host's were told before it."""
    has_ended: bool = False
    """Whether the program came to its end: by `return` or `exit`, and neither by a signal nor by `_exit`."""
    seconds: float = 0.0
    """The model's clock at that end."""

    def in_order(self) -> list[Finding | HostFinding]:
        """Returns what was found, each thing once, as it came: a cause is before what follows from it.

        What was found in one launch, or between two calls of the host, stands causes first. A launch that
        nothing orders with a copy finds its memory unwritten before that copy is done: the missing order is
        the cause.
        """
        when: dict[object, int] = {}
        unordered: dict[tuple[str, ...], int] = {}  # by the calls that asked for the work
        for place, host in enumerate(self.host_findings):
            when.setdefault((host.kind, host.stack), 2 * place + 1)
            if host.kind == "missing-sync":
                stacks = (host.stack, host.other.stack if host.other is not None else ())
                for stack in filter(None, stacks):
                    unordered.setdefault(tuple(map(str, stack)), 2 * place + 1)
        for finding, before in zip(self.findings, self.host_findings_before, strict=True):
            cause = unordered.get(finding.launched, 0) if finding.kind == "uninitialized" else 0
            when.setdefault((finding.kind, finding.file, finding.line), max(2 * before, cause))

        def place_of(each: Finding | HostFinding) -> int:
            if isinstance(each, HostFinding):
                return when[each.kind, each.stack]
            return when[each.kind, each.file, each.line]

        merged_all = [*merged(self.findings), *merged_of_host(self.host_findings)]
        return sorted(without_notes(by_cause(merged_all)), key=place_of)


Site = tuple[int, ...]


class HostCode(Protocol):
    """The host's side of the program that was run, as far as it is known."""

    @property
    def dropped(self) -> Set[tuple[str, int]]:
        """Files and lines of calls whose results nobody reads."""
        ...

    def stacks(self, sites: Iterable[Site]) -> Mapping[Site, Stack]:
        """The lines of call sites."""
        ...


def read(path: Path, host: HostCode | None = None) -> Recording:
    """The record in a file; a last line that a crash cut short is left out.

    Call sites are explained by the program's `host` code; without it they stay unknown.
    """
    return read_text(path.read_text(encoding="utf-8", errors="replace"), host)


def read_text(text: str, host: HostCode | None = None) -> Recording:
    """The record as a text."""
    recording = Recording()
    counters: list[str] = []
    kernels: dict[int, RecordedKernel] = {}
    rows = [json.loads(line) for line in text.split("\n")[:-1]]
    stacks = host.stacks(_sites(rows)) if host is not None else dict[Site, Stack]()
    seen = {row["number"] for row in rows if row["what"] == "looked at"}
    for row in rows:
        match row["what"]:
            case "counters":
                counters = row["names"]
            case "program":
                kernels[row["program"]] = _kernel(row)
            case "launch":
                recording.launches.append(_launch(kernels[row["program"]], counters, row))
            case "finding":
                recording.findings.append(_finding(kernels[row["program"]], row, stacks))
                recording.host_findings_before.append(len(recording.host_findings))
            case "host finding":
                recording.host_findings.append(
                    _host_finding(row, row["kind"], Message.from_data(row["message"]), stacks)
                )
            case "failed call":
                dropped = host.dropped if host is not None else frozenset[tuple[str, int]]()
                recording.host_findings += _failed(row, row["number"] in seen, dropped, stacks)
            case "copy":
                recording.copies.append(RecordedCopy(row["name"], row["bytes"], row["pinned"]))
            case "allocation":
                recording.allocations.append(RecordedAllocation(row["memory"], row["bytes"]))
            case "end":
                recording.has_ended, recording.seconds = True, row["seconds"]
            case "looked at":
                pass
            case other:
                raise ValueError(f"a record has a row of {other!r}")
    return recording


def _sites(rows: Iterable[Mapping[str, Any]]) -> Iterator[Site]:
    for row in rows:
        if "site" in row:
            yield tuple(row["site"])
            if row["what"] != "finding" and row["other"] is not None:
                yield tuple(row["other"]["site"])


def _host_finding(
    row: Mapping[str, Any], kind: Kind, said: Message, stacks: Mapping[Site, Stack]
) -> HostFinding:
    other = None
    if row["other"] is not None:
        what = Message.from_data(row["other"]["what"])
        other = HostParty(what, stacks.get(tuple(row["other"]["site"]), ()))
    return HostFinding(kind, said, stacks.get(tuple(row["site"]), ()), other)


def _failed(
    row: Mapping[str, Any], seen: bool, dropped: Set[tuple[str, int]], stacks: Mapping[Site, Stack]
) -> Iterator[HostFinding]:
    """A call that failed is a finding where it is wrong for certain, or where nobody looks at its result."""
    stack = stacks.get(tuple(row["site"]), ())
    is_dropped = row["is_launch"] or any((frame.file, frame.line) in dropped for frame in stack[:1])
    said = Message("vgpu.call-fails", {"call": row["call"], "error": row["code"]})
    if row["reason"] is not None:
        reason = Message.from_data(row["reason"])
        said = Message("vgpu.call-fails-because", {**said.params, "reason": reason})
    if row["finding"]:
        yield _host_finding(row, row["finding"], said, stacks)
    elif is_dropped and not seen:
        yield _host_finding(row, "unchecked-error", Message("vgpu.nobody-looks", {"failure": said}), stacks)


def _kernel(row: Mapping[str, Any]) -> RecordedKernel:
    return RecordedKernel(
        name=row["kernel"],
        resources=Resources(row["registers"], row["static_shared"], row["local"]),
        files=row["files"],
        origins=[cast("tuple[str, int, int, int, int, int]", tuple(each)) for each in row["origins"]],
        libraries={int(number): name for number, name in row["libraries"].items()},
    )


def _extent(values: list[int]) -> Dim3:
    x, y, z = values
    return x, y, z


_PLAIN = (
    "dynamic_shared",
    "device",
    "stream",
    "seconds",
    "memory_sectors",
    "global_allocated",
    "global_touched",
)


def _launch(kernel: RecordedKernel, counters: list[str], row: Mapping[str, Any]) -> RecordedLaunch:
    return RecordedLaunch(
        kernel=kernel,
        grid=_extent(row["grid"]),
        block=_extent(row["block"]),
        counter_names=counters,
        counts=row["counts"],
        **{name: row[name] for name in _PLAIN},
    )


def _party(kernel: RecordedKernel, row: Mapping[str, Any]) -> Party:
    place = kernel.listing[row["instruction"]]
    return Party(
        row["action"], place.file, place.line, _extent(row["block"]), _extent(row["thread"]), place.library
    )


def _finding(kernel: RecordedKernel, row: Mapping[str, Any], stacks: Mapping[Site, Stack]) -> Finding:
    at = _party(kernel, row["at"])
    other = None if row["other"] is None else _party(kernel, row["other"])
    return Finding(
        cast("Kind", row["kind"]),
        Message.from_data(row["message"]),
        at.file,
        at.line,
        at.block,
        at.thread,
        other=other,
        count=row["count"],
        library=at.library,
        launched=tuple(str(frame) for frame in stacks.get(tuple(row["site"]), ())),
    )
