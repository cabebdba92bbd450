"""What is counted, for a launch or for one line of its source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from flashpath.vgpu.report import classes


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

    @property
    def ideal_sectors_per_request(self) -> float:
        """Returns what the same bytes take where they lie side by side, or less where threads share some."""
        side_by_side = self.bytes / 32 / self.requests if self.requests else 0.0
        return min(side_by_side, self.sectors_per_request)

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

    @property
    def wavefronts_per_request(self) -> float:
        return self.wavefronts / self.requests if self.requests else 0.0

    @property
    def ideal_wavefronts_per_request(self) -> float:
        """1 for accesses of 4 bytes and less, 2 for 8 bytes, 4 for 16."""
        return (self.wavefronts - self.bank_conflicts) / self.requests if self.requests else 0.0

    def add(self, requests: int, wavefronts: int, ideal: int) -> None:
        self.requests += requests
        self.wavefronts += wavefronts
        self.bank_conflicts += wavefronts - ideal


@dataclass
class LocalTraffic:
    """Accesses to local memory in PTX: arrays of a thread. Spilled registers are the machine code's own."""

    requests: int = 0
    sectors: int = 0
    """Pieces of 32 bytes; the same word of 32 threads lies side by side, and takes four."""
    bytes: int = 0
    """What the threads asked for."""

    def add(self, requests: int, sectors: int, bytes_: int) -> None:
        self.requests += requests
        self.sectors += sectors
        self.bytes += bytes_


@dataclass
class AtomicTraffic:
    """Atomics on any memory, and how much they wait for each other: lanes at one address take turns."""

    requests: int = 0
    turns: int = 0
    """The most lanes that meet at one address, summed over the requests."""

    @property
    def turns_per_request(self) -> float:
        """1 where the lanes of a warp all have addresses of their own, 32 where they all meet at one."""
        return self.turns / self.requests if self.requests else 0.0

    def add(self, requests: int, turns: int) -> None:
        self.requests += requests
        self.turns += turns


@dataclass
class Counts:
    """The counts of a launch, or of one line of its source."""

    instructions: int = 0
    """PTX instructions, each thread for itself."""
    warp_instructions: int = 0
    """PTX instructions, a warp's 32 threads together."""
    instructions_by_class: dict[str, int] = field(default_factory=dict[str, int])
    """Those, by "integer", "float32", "global load" … (`classes.CLASSES` has them all)."""
    divergent_branches: int = 0
    """PTX branches at which the threads of a warp parted."""
    global_load: GlobalTraffic = field(default_factory=GlobalTraffic)
    global_store: GlobalTraffic = field(default_factory=GlobalTraffic)
    global_atomic: GlobalTraffic = field(default_factory=GlobalTraffic)
    shared_load: SharedTraffic = field(default_factory=SharedTraffic)
    shared_store: SharedTraffic = field(default_factory=SharedTraffic)
    shared_atomic: SharedTraffic = field(default_factory=SharedTraffic)
    local_load: LocalTraffic = field(default_factory=LocalTraffic)
    local_store: LocalTraffic = field(default_factory=LocalTraffic)
    atomics: AtomicTraffic = field(default_factory=AtomicTraffic)
    flops_by_type: dict[str, int] = field(default_factory=dict[str, int])
    """Floating-point operations of threads in PTX, by "f32", "f64", "f16" …; a fused multiply-add is two."""
    tensor_operations: dict[str, int] = field(default_factory=dict[str, int])
    """2·m·n·k of every matrix instruction, by the type that is multiplied: "f16", "tf32", "s8" …"""

    @property
    def active_lanes(self) -> float:
        """Threads that take part in an instruction, on average; 32 is the best."""
        return self.instructions / self.warp_instructions if self.warp_instructions else 0.0

    @property
    def flops(self) -> int:
        """Floating-point operations of all types, in PTX, those of tensor cores included."""
        tensor = sum(count for element, count in self.tensor_operations.items() if classes.is_float(element))
        return sum(self.flops_by_type.values()) + tensor

    @property
    def global_sectors(self) -> int:
        """Returns the sectors of global loads, stores and atomics together."""
        return self.global_load.sectors + self.global_store.sectors + self.global_atomic.sectors

    @property
    def bank_conflicts(self) -> int:
        """Returns the bank conflicts of shared loads, stores and atomics together."""
        parts = (self.shared_load, self.shared_store, self.shared_atomic)
        return sum(traffic.bank_conflicts for traffic in parts)

    def add(self, opcode: str, row: Mapping[str, int]) -> None:
        """Add what one instruction counted, by the names of the engine's counters."""
        warps, lanes = row["warps"], row["lanes"]
        self.warp_instructions += warps
        self.instructions += lanes
        self.divergent_branches += row["divergent"]
        _add(self.instructions_by_class, _class_of(opcode, row), lanes)
        self._add_memory(opcode, row)
        done = classes.work(opcode)
        if done.per_thread:
            _add(self.flops_by_type, done.element, done.per_thread * lanes)
        if done.per_warp:
            _add(self.tensor_operations, done.element, done.per_warp * warps)

    def _add_memory(self, opcode: str, row: Mapping[str, int]) -> None:
        if not row["requests"]:
            return
        if row["sectors"] and classes.instruction_class(opcode) not in _NOT_GLOBAL:
            requests = row["requests"] - row["shared_requests"] - row["local_requests"]
            asked = row["bytes"] - row["shared_bytes"] - row["local_bytes"]
            traffic: GlobalTraffic = getattr(self, f"global_{classes.access_kind(opcode, 'global')}")
            traffic.add(requests, row["sectors"], asked)
        if row["shared_requests"]:
            shared: SharedTraffic = getattr(self, f"shared_{classes.access_kind(opcode, 'shared')}")
            shared.add(row["shared_requests"], row["wavefronts"], row["ideal"])
        if row["local_requests"]:
            local: LocalTraffic = getattr(self, f"local_{classes.access_kind(opcode, 'local')}")
            local.add(row["local_requests"], row["local_sectors"], row["local_bytes"])
        if row["serialised"]:
            self.atomics.add(row["requests"], row["serialised"])


def _class_of(opcode: str, row: Mapping[str, int]) -> str:
    """Parameters lie in constant memory: one that is read by an address, not by its name, is a load of it."""
    name = classes.instruction_class(opcode)
    return "constant load" if name == "parameter load" and row["sectors"] else name


# Loads of these go the way of global ones, and are other traffic.
_NOT_GLOBAL = ("constant load", "parameter load")


def _add(counts: dict[str, int], name: str, count: int) -> None:
    counts[name] = counts.get(name, 0) + count


@dataclass
class Line(Counts):
    """The counts of one line of the source."""

    file: str = ""
    line: int = 0
