"""What the virtual GPU finds wrong with a kernel, and the error that a fault becomes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from flashpath.errors import FlashpathError

Kind = Literal[
    "race",
    "out-of-bounds",
    "uninitialized",
    "misaligned",
    "divergent-barrier",
    "missing-wait",
    "deadlock",
    "timeout",
    "bad-mask",
    "const-write",
    "leak",
    "assert",
    "trap",
]
Dim3 = tuple[int, int, int]

_ADVICE: dict[str, str] = {
    "out-of-bounds": "Compare the index with the array's length before the access; pointers come from the "
    "launch's arguments.",
    "misaligned": "An access must stand at a multiple of its width: look at the pointer's offset.",
    "deadlock": "Every thread of the block, or of the member mask, must reach the same barrier.",
    "timeout": "Look for a loop that never ends, or run a smaller problem.",
    "bad-mask": "The 32 lanes of a warp must reach a matrix operation together, with one address and stride.",
    "const-write": "Pass a writable array; constants and parameters cannot be written.",
    "assert": "The condition in the source did not hold for this thread.",
    "trap": "The kernel called __trap(), or reached code that its compiler held for impossible.",
}


@dataclass(frozen=True)
class Party:
    """A thread at a place in the source, and what it did there."""

    action: str  # "read", "write" or "atomic"; empty where nothing needs to be said
    file: str  # empty where the PTX has no line table
    line: int  # 0 where it is unknown
    block: Dim3
    thread: Dim3

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}, " if self.line else ""
        return f"{self.action} at {place}block {self.block}, thread {self.thread}"


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong, and where."""

    kind: Kind
    message: str
    file: str  # empty where the PTX has no line table
    line: int  # 0 where it is unknown
    block: Dim3
    thread: Dim3
    other: Party | None = None  # of a race
    count: int = 1  # how often it was met

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}, " if self.line else ""
        return f"{self.kind}: {self.message} ({place}block {self.block}, thread {self.thread})"


def _advice(finding: Finding) -> str | None:
    if finding.message.startswith("the stack of the thread"):
        return "Recursion must end before that: look at the condition that ends it."
    if finding.message.startswith("a call by address"):
        return "Look at where the function's address comes from."
    return _ADVICE.get(finding.kind)


class KernelFault(FlashpathError):
    """A kernel was stopped on the virtual GPU. What it wrote before it was stopped is in the arrays."""

    def __init__(self, kernel: str, finding: Finding) -> None:
        super().__init__(f"{kernel}: {finding}.", _advice(finding))
        self.finding = finding

    @property
    def kind(self) -> Kind:
        """The kind of the finding."""
        return self.finding.kind

    @property
    def message(self) -> str:
        """What happened."""
        return self.finding.message

    @property
    def file(self) -> str:
        """The source file; empty where the PTX has no line table."""
        return self.finding.file

    @property
    def line(self) -> int:
        """The line in it; 0 where it is unknown."""
        return self.finding.line

    @property
    def block(self) -> Dim3:
        """blockIdx of the thread that was stopped."""
        return self.finding.block

    @property
    def thread(self) -> Dim3:
        """threadIdx of the thread that was stopped."""
        return self.finding.thread
