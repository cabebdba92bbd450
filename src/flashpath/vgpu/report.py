"""What a launch on the virtual GPU counted.

Global requests, sectors and bytes and the bank conflicts of shared memory follow the hardware's rules; they
have not been set against a hardware profiler in this version.
Instructions, lanes, branches, shared requests and FLOPs are counted in PTX: ptxas merges and removes some of
them on the way to machine code. Cycles are not known.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from flashpath import gpus
from flashpath.vgpu.findings import Finding

if TYPE_CHECKING:
    from flashpath.vgpu._engine import LaunchResult, Program

SECTOR_BYTES = 32


@dataclass
class GlobalTraffic:
    """Accesses to global memory, counted as the hardware counts them."""

    requests: int = 0
    """Accesses of whole warps."""
    sectors: int = 0
    """Pieces of 32 bytes that these touched, each request for itself."""
    bytes: int = 0
    """What the threads asked for."""

    @property
    def sectors_per_request(self) -> float:
        """4 where 32 threads read neighbouring 4-byte values, 32 where each is in a sector of its own."""
        return self.sectors / self.requests if self.requests else 0.0

    def add(self, requests: int, sectors: int, bytes_: int) -> None:
        self.requests += requests
        self.sectors += sectors
        self.bytes += bytes_


@dataclass
class SharedTraffic:
    """Accesses to shared memory. Requests are counted in PTX, conflicts by the rule of 32 banks."""

    requests: int = 0
    wavefronts: int = 0
    """Passes over the 32 banks."""
    bank_conflicts: int = 0
    """Passes beyond those that conflict-free addresses would have taken."""

    def add(self, requests: int, wavefronts: int, ideal: int) -> None:
        self.requests += requests
        self.wavefronts += wavefronts
        self.bank_conflicts += wavefronts - ideal


@dataclass
class Counts:
    """What was counted: for a launch, or for one line of its source."""

    instructions: int = 0
    """PTX instructions, each thread for itself."""
    warp_instructions: int = 0
    """PTX instructions, a warp's 32 threads together."""
    divergent_branches: int = 0
    """PTX branches at which the threads of a warp parted."""
    global_load: GlobalTraffic = field(default_factory=GlobalTraffic)
    global_store: GlobalTraffic = field(default_factory=GlobalTraffic)
    global_atomic: GlobalTraffic = field(default_factory=GlobalTraffic)
    shared_load: SharedTraffic = field(default_factory=SharedTraffic)
    shared_store: SharedTraffic = field(default_factory=SharedTraffic)
    shared_atomic: SharedTraffic = field(default_factory=SharedTraffic)
    flops_by_type: Counter[str] = field(default_factory=Counter[str])
    """Floating-point operations in PTX, by "f32", "f64", "f16" …; a fused multiply-add is two."""

    @property
    def active_lanes(self) -> float:
        """Threads that take part in an instruction, on average; 32 is the best."""
        return self.instructions / self.warp_instructions if self.warp_instructions else 0.0

    @property
    def flops(self) -> int:
        """Floating-point operations of all types, in PTX."""
        return sum(self.flops_by_type.values())

    def add(self, opcode: str, row: list[int]) -> None:
        """Add what one instruction counted; the engine's own additions have no opcode."""
        if not opcode:
            return
        warps, lanes, divergent, requests, asked, sectors, wavefronts, ideal = row[:8]
        shared_requests, shared_bytes, local_requests, local_bytes = row[8:12]
        self.warp_instructions += warps
        self.instructions += lanes
        self.divergent_branches += divergent
        operation, *modifiers = opcode.split(".")
        kinds = _MEMORY.get(operation)
        if kinds is not None and requests and "param" not in modifiers:
            global_kind, shared_kind = kinds
            getattr(self, f"global_{global_kind}").add(
                requests - shared_requests - local_requests, sectors, asked - shared_bytes - local_bytes
            )
            getattr(self, f"shared_{shared_kind}").add(shared_requests, wavefronts, ideal)
        if operation in _FLOPS and modifiers and modifiers[-1].lstrip("b").startswith("f"):
            element, _, pair = modifiers[-1].partition("x")
            self.flops_by_type[element] += _FLOPS[operation] * lanes * int(pair or 1)


# What an instruction does to global memory, and what to shared memory.
_MEMORY = {
    "ld": ("load", "load"),
    "ldu": ("load", "load"),
    "st": ("store", "store"),
    "atom": ("atomic", "atomic"),
    "red": ("atomic", "atomic"),
    "cp": ("load", "store"),
}
_FLOPS = {"add": 1, "sub": 1, "mul": 1, "div": 1, "sqrt": 1, "rcp": 1, "rsqrt": 1, "fma": 2, "mad": 2}
_ROOFLINE_TYPES = {"f64": "fp64", "f32": "fp32", "f16": "fp16", "bf16": "bf16"}


@dataclass
class Line(Counts):
    """What one line of the source counted."""

    file: str = ""
    line: int = 0


@dataclass
class Report(Counts):
    """What a launch counted, and what that means on the named GPU."""

    kernel: str = ""
    gpu: str = ""
    dram_bytes: int = 0
    """Distinct 32-byte sectors of global memory that were touched, in bytes: the least that must be moved."""
    lines: tuple[Line, ...] = ()
    """By file and line; instructions without a line are in the sums only."""
    occupancy: gpus.Occupancy | None = None
    roofline: gpus.Roofline | None = None
    """Lower bounds on the GPU named, from datasheet peaks: no prediction, and no time that was measured."""
    findings: tuple[Finding, ...] = ()

    def __str__(self) -> str:
        rows = [f"{self.kernel} on the virtual GPU ({self.gpu})"]

        def row(what: str, text: str) -> None:
            rows.append(f"  {what:<22} {text}")

        row(
            "instructions (PTX)",
            f"{self.instructions:,} by {self.warp_instructions:,} warp instructions, "
            f"{self.active_lanes:.1f} of 32 lanes active",
        )
        row("divergent branches", f"{self.divergent_branches:,} (PTX)")
        for what, traffic in (
            ("global loads", self.global_load),
            ("global stores", self.global_store),
            ("global atomics", self.global_atomic),
        ):
            if traffic.requests:
                row(
                    what,
                    f"{traffic.requests:,} requests, {traffic.sectors:,} sectors "
                    f"({traffic.sectors_per_request:.2f} a request), {traffic.bytes:,} bytes asked for",
                )
        for what, traffic in (
            ("shared loads", self.shared_load),
            ("shared stores", self.shared_store),
            ("shared atomics", self.shared_atomic),
        ):
            if traffic.requests:
                row(
                    what,
                    f"{traffic.requests:,} requests, {traffic.wavefronts:,} wavefronts, "
                    f"{traffic.bank_conflicts:,} bank conflicts",
                )
        row("FLOPs (PTX)", f"{self.flops:,}")
        row("memory touched", f"{self.dram_bytes:,} bytes")
        if self.occupancy is not None:
            row("occupancy", f"{self.occupancy.fraction:.0%}, limited by {self.occupancy.limit}")
        if self.roofline is not None:
            bound = f"{self.roofline.least_seconds * 1e6:.2f} µs at least, bound by {self.roofline.bound}"
            row("roofline", f"{bound} (datasheet peaks, not a measured time)")
        return "\n".join(rows)


def make_report(
    kernel: str, gpu: gpus.Gpu, program: Program, result: LaunchResult, occupancy: gpus.Occupancy
) -> Report:
    """Sum up what each instruction counted."""
    report = Report(kernel=kernel, gpu=gpu.name, occupancy=occupancy)
    lines: dict[tuple[str, int], Line] = {}
    files = program.files
    for (opcode, _, file, line), row in zip(program.origins, result.instructions, strict=True):
        report.add(opcode, row)
        if line:
            key = files[file], line
            if key not in lines:
                lines[key] = Line(file=files[file], line=line)
            lines[key].add(opcode, row)
    report.lines = tuple(lines[key] for key in sorted(lines))
    report.dram_bytes = result.touched_sectors * SECTOR_BYTES
    # The type that does most of the arithmetic bounds it.
    main = max(report.flops_by_type, key=lambda name: report.flops_by_type[name], default="f32")
    dtype = _ROOFLINE_TYPES.get(main, "fp32")
    report.roofline = gpus.roofline(gpu, report.dram_bytes, report.flops, dtype)
    return report
