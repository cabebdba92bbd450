"""What the virtual GPU finds wrong with the host code of a whole program."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from flashpath.vgpu.findings import Kind, advice_for


@dataclass(frozen=True)
class Frame:
    """A function of the host that has called another, or what is wrong, and where."""

    function: str
    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


Stack = tuple[Frame, ...]
"""From the innermost function outwards; only those of the program's own files."""


@dataclass(frozen=True)
class HostParty:
    """Another call that takes part: `what` it did, or asked for."""

    what: str  # "freed", "allocated", "kernel saxpy", "copy, device to host"
    stack: Stack


@dataclass(frozen=True)
class HostFinding:
    """One thing that is wrong with host code, and where."""

    kind: Kind
    message: str
    stack: Stack
    other: HostParty | None = None
    count: int = 1  # how often it was met
    seed: int = 0  # the first schedule that showed it

    @property
    def file(self) -> str:
        """The source file; empty where no line is known."""
        return self.stack[0].file if self.stack else ""

    @property
    def line(self) -> int:
        """The line in it; 0 where it is unknown."""
        return self.stack[0].line if self.stack else 0

    @property
    def advice(self) -> str | None:
        """What mends it, in a sentence, and where more is said."""
        return advice_for(self.kind, of_host=True)

    def __str__(self) -> str:
        parts = [_told(self.stack)]
        if self.other is not None:
            parts.append(f"{self.other.what}: {_told(self.other.stack)}")
        if self.count > 1:
            parts.append(f"met {self.count:,} times")
        return f"{self.kind}: {self.message} ({'; '.join(parts)})"


def _told(stack: Stack) -> str:
    return ", called from ".join(str(frame) for frame in stack) or "at a line that is not known"


def merged_of_host(findings: Iterable[HostFinding]) -> list[HostFinding]:
    """Each kind at each place once: as it was first met, with its counts summed."""
    kept: dict[object, HostFinding] = {}
    for finding in findings:
        key = finding.kind, finding.stack, finding.other, None if finding.stack else finding.message
        known = kept.get(key)
        kept[key] = finding if known is None else replace(known, count=known.count + finding.count)
    return list(kept.values())
