"""The report of a launch: its counts summed up, and what they mean on the GPU that is named."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, cast

from flashpath import gpus
from flashpath.errors import FlashpathError
from flashpath.vgpu.findings import Dim3, Finding
from flashpath.vgpu.report import text
from flashpath.vgpu.report.access import SECTOR_BYTES, Access, PlacedArray, make_access
from flashpath.vgpu.report.counts import Counts, Line
from flashpath.vgpu.report.listing import Listing

if TYPE_CHECKING:
    from flashpath.gpus.shape import LaunchShape
    from flashpath.vgpu._engine import LaunchResult
    from flashpath.vgpu.cubin import Resources


@dataclass(frozen=True)
class Footprint:
    """The memory that a launch needs, in bytes."""

    static_shared: int = 0
    """Bytes of each block."""
    dynamic_shared: int = 0
    """Bytes of each block."""
    registers: int = 0
    """32-bit registers of each thread."""
    local: int = 0
    """Bytes of each thread, in machine code: arrays indexed at run time, spilled registers, call frames."""
    global_allocated: int = 0
    """The arrays that the kernel was given, and its module's variables but for constants."""
    global_touched: int = 0
    """Bytes of these that lie in sectors that were read or written."""


@dataclass
class Report(Counts):
    """The counts of a launch, and what they mean on the named GPU."""

    kernel: str = ""
    gpu: str = ""
    grid: Dim3 = (1, 1, 1)
    block: Dim3 = (1, 1, 1)
    dram_bytes: int = 0
    """Distinct 32-byte sectors of global memory that were read, and those that were written, in bytes: the
    least that must be moved, where no cache holds it before or keeps it after."""
    footprint: Footprint = field(default_factory=Footprint)
    lines: tuple[Line, ...] = ()
    """The counts by file and line; instructions without a line are in the sums only."""
    occupancy: gpus.Occupancy | None = None
    roofline: gpus.Roofline | None = None
    """Lower bounds on the GPU named, from datasheet peaks: no prediction, and no time that was measured."""
    findings: tuple[Finding, ...] = ()
    trace_maker: Callable[[], tuple[Access, ...]] = field(default=tuple, repr=False, compare=False)

    @functools.cached_property
    def traced(self) -> tuple[Access, ...]:
        """Accesses with the address of every lane: those that `fp.profile(…, trace=…)` chose."""
        return self.trace_maker()

    def __str__(self) -> str:
        return text.render(self)

    def accesses(
        self,
        line: int | None = None,
        kind: Literal["load", "store", "atomic"] | None = None,
        space: Literal["global", "shared"] | None = None,
        file: str | None = None,
    ) -> tuple[Access, ...]:
        """The traced accesses of a line, of a kind, to a space, in a file; all of them by default."""
        filters = {"line": line, "kind": kind, "space": space, "file": file}
        return tuple(
            access
            for access in self.traced
            if all(value is None or getattr(access, name) == value for name, value in filters.items())
        )

    def access(
        self,
        line: int,
        kind: Literal["load", "store", "atomic"] | None = None,
        request: int = 0,
        *,
        space: Literal["global", "shared"] | None = None,
        file: str | None = None,
    ) -> Access:
        """One of these: the first that fits, or the one of that number."""
        accesses = self.accesses(line, kind, space, file)
        if 0 <= request < len(accesses):
            return accesses[request]
        kinds = "".join(f"{word} " for word in (space, kind) if word)
        lines = sorted({access.line for access in self.traced if access.line})
        raise FlashpathError(
            "vgpu.no-traced-access", line=line, count=len(accesses), kinds=kinds, request=request, lines=lines
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything, derived figures too, as JSON can hold it."""
        return cast("dict[str, Any]", _plain(self))


_COMPUTED = (property, functools.cached_property)


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [item.name for item in dataclasses.fields(value) if item.name != "trace_maker"]
        names += [name for name in dir(type(value)) if isinstance(getattr(type(value), name), _COMPUTED)]
        return {name: _plain(getattr(value, name)) for name in names}
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in cast("Mapping[Any, Any]", value).items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in cast("Sequence[Any]", value)]
    if isinstance(value, float) and not math.isfinite(value):
        return None  # JSON has no infinity
    return value


# ---- Making one ----------------------------------------------------------------------------------------


def make_report(
    kernel: str,
    gpu: gpus.Gpu,
    listing: Listing,
    result: LaunchResult,
    shape: LaunchShape,
    used: Resources,
    arrays: Sequence[PlacedArray] = (),
) -> Report:
    """Sums up what each instruction counted; `arrays` give traced addresses the names of what they are in."""
    shared = used.static_shared + shape.shared
    occupancy = gpus.occupancy(gpu, math.prod(shape.block), used.registers, shared)
    report = Report(kernel=kernel, gpu=gpu.name, grid=shape.grid, block=shape.block, occupancy=occupancy)
    lines: dict[tuple[str, int], Line] = {}
    for place, row in listing.sums(result):
        report.add(place.opcode, row)
        if place.line:
            key = place.file, place.line
            if key not in lines:
                lines[key] = Line(file=place.file, line=place.line)
            lines[key].add(place.opcode, row)
    report.lines = tuple(lines[key] for key in sorted(lines))
    report.dram_bytes = result.memory_sectors * SECTOR_BYTES
    report.footprint = Footprint(
        used.static_shared,
        shape.shared,
        used.registers,
        used.local_memory,
        result.global_allocated,
        result.global_touched,
    )

    def make_traced() -> tuple[Access, ...]:  # only when somebody looks
        placed = [(listing[row[0]], row) for row in result.accesses]
        return tuple(make_access(row, place, arrays) for place, row in placed if place.opcode)

    report.trace_maker = make_traced
    report.roofline = roofline_of(gpu, report)
    return report


# The rate of a GPU that bounds each type, as gpus.roofline names it. Of operations on 4 bits and on single
# bits no profile says the rate: they bound nothing.
_ORDINARY = {"f64": "fp64", "f32": "fp32", "f16": "fp16", "bf16": "bf16"}
_TENSOR = {
    "f64": "fp64_tensor", "tf32": "tf32", "f16": "fp16", "bf16": "bf16", "e4m3": "fp8", "e5m2": "fp8",
    "s8": "int8", "u8": "int8",
}  # fmt: skip


def roofline_of(gpu: gpus.Gpu, report: Report) -> gpus.Roofline:
    """Units of different types work side by side: the one with the most to do for its speed is the bound."""
    operations: dict[str, int] = {}
    for done, rates in ((report.flops_by_type, _ORDINARY), (report.tensor_operations, _TENSOR)):
        for element, count in done.items():
            if element in rates:
                operations[rates[element]] = operations.get(rates[element], 0) + count
    bounds = [gpus.roofline(gpu, report.dram_bytes, count, rate) for rate, count in operations.items()]
    nothing = gpus.roofline(gpu, report.dram_bytes, 0)
    return max(bounds, key=lambda bound: bound.compute_seconds, default=nothing)
