"""What the virtual GPU finds wrong with the host code of a whole program."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from flashpath.messages import Message
from flashpath.vgpu.findings import Kind, advice_for, called, met, summary


@dataclass(frozen=True)
class Frame:
    """A function of the host that has called another, or what is wrong, and where."""

    function: str
    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


Stack = tuple[Frame, ...]
"""The calls from the innermost function outwards; only those of the program's own files."""


@dataclass(frozen=True)
class HostParty:
    """Another call that takes part: `what` it did, or asked for."""

    what: Message  # "freed", "allocated", "kernel saxpy", "copy, device to host"
    stack: Stack


@dataclass(frozen=True)
class HostFinding:
    """One thing that is wrong with host code, and where."""

    kind: Kind
    said: Message
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
    def message(self) -> str:
        """Returns what happened, in the language that is spoken."""
        return self.said.text()

    @property
    def advice(self) -> str:
        """Returns what mends it, in a sentence, and where more is said."""
        return advice_for(self.kind, of_host=True).text()

    def as_data(self) -> dict[str, Any]:
        """Returns plain data, ready for `json.dumps`."""
        other = self.other and {"what": self.other.what.as_data(), "stack": _data_of(self.other.stack)}
        return {
            "kind": self.kind,
            "said": self.said.as_data(),
            "stack": _data_of(self.stack),
            "other": other,
            "count": self.count,
            "seed": self.seed,
        }

    @staticmethod
    def from_data(data: Mapping[str, Any]) -> HostFinding:
        """Reads what `as_data` wrote."""
        other = data["other"]
        party = other and HostParty(Message.from_data(other["what"]), _stack_of(other["stack"]))
        said, stack = Message.from_data(data["said"]), _stack_of(data["stack"])
        return HostFinding(data["kind"], said, stack, party, data["count"], data["seed"])

    def __str__(self) -> str:
        parts: list[Message | str] = [_told(self.stack)]
        if self.other is not None:
            where = {"what": self.other.what, "where": _told(self.other.stack)}
            parts.append(Message("vgpu.of-host-party", where))
        return summary(self.kind, self.said, [*parts, *met(self.count)]).text()


def _told(stack: Stack) -> Message | str:
    return called(stack) if stack else Message("vgpu.line-not-known")


def _data_of(stack: Stack) -> list[dict[str, Any]]:
    return [asdict(frame) for frame in stack]


def _stack_of(rows: Iterable[Mapping[str, Any]]) -> Stack:
    return tuple(Frame(**row) for row in rows)


def merged_of_host(findings: Iterable[HostFinding]) -> list[HostFinding]:
    """Each kind at each place once: as it was first met, with its counts summed."""
    kept: dict[object, HostFinding] = {}
    for finding in findings:
        other = finding.other and (str(finding.other.what.as_data()), finding.other.stack)
        key = finding.kind, finding.stack, other, None if finding.stack else str(finding.said.as_data())
        known = kept.get(key)
        kept[key] = finding if known is None else replace(known, count=known.count + finding.count)
    return list(kept.values())
