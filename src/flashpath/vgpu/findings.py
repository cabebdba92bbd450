"""What the virtual GPU finds wrong with a kernel, and the error that a fault becomes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal, get_args

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
    "missing-sync",
    "use-after-free",
    "wrong-direction",
    "unchecked-error",
    "bad-pointer",
]
KINDS: tuple[Kind, ...] = get_args(Kind)
Dim3 = tuple[int, int, int]

_ADVICE: dict[str, str] = {
    "race": "Order the two accesses: __syncthreads() within a block, __syncwarp() within a warp, fences and "
    "an atomic or volatile flag between blocks; or make both atomic.",
    "out-of-bounds": "Compare the index with the array's length before the access; pointers come from the "
    "launch's arguments.",
    "uninitialized": "Write it before it is read: shared, local and allocated memory is not cleared.",
    "misaligned": "An access must stand at a multiple of its width: look at the pointer's offset.",
    "divergent-barrier": "Move the barrier out of the branch: all threads of the block must reach it "
    "together.",
    "missing-wait": "Commit the copies and wait for their group (cp.async.wait_group) before the memory is "
    "used.",
    "deadlock": "Every thread of the block, or of the member mask, must reach the same barrier; whoever "
    "spins needs somebody who will set what it waits for.",
    "timeout": "Look for a loop that never ends, or run a smaller problem.",
    "bad-mask": "A member mask must name the lanes that execute the operation, and no others that still run; "
    "read only from lanes that it names.",
    "const-write": "Pass a writable array; constants and parameters cannot be written.",
    "leak": "Call free for each malloc, on every way out.",
    "assert": "The condition in the source did not hold for this thread.",
    "trap": "The kernel called __trap(), or reached code that its compiler held for impossible.",
    "missing-sync": "Wait before the memory is used: cudaStreamSynchronize or cudaDeviceSynchronize for the "
    "host, an event and cudaStreamWaitEvent for another stream.",
    "use-after-free": "Free memory once, after its last use; set the pointer to nullptr then.",
    "wrong-direction": "The kind names where the copy comes from and where it goes: "
    "cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost; cudaMemcpyDefault looks at the addresses.",
    "unchecked-error": "Look at what every call returns, and after a launch at cudaGetLastError().",
    "bad-pointer": "A pointer of cudaMalloc is for kernels and for the calls of CUDA; the host reads what "
    "was copied to memory of its own.",
}
_ADVICE_FOR_HOST: dict[str, str] = {
    "leak": "Call cudaFree (cudaFreeHost, cudaHostUnregister) on every way out, or let a destructor do it.",
    "out-of-bounds": "A copy takes bytes, not elements: n * sizeof(T), and no more than either end has.",
}


@dataclass(frozen=True)
class Party:
    """A thread at a place in the source, and what it did there."""

    action: str  # "read", "write" or "atomic"; empty where nothing needs to be said
    file: str  # empty where the PTX has no line table
    line: int  # 0 where it is unknown
    block: Dim3
    thread: Dim3
    library: str = ""  # such as "cuda/pipeline:491": where in a library that the line calls

    def __str__(self) -> str:
        action = f"{self.action} at " if self.action else ""
        return f"{action}{_place(self)}block {self.block}, thread {self.thread}"


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong, and where."""

    kind: Kind
    message: str
    file: str  # empty where the PTX has no line table
    line: int  # 0 where it is unknown
    block: Dim3
    thread: Dim3
    other: Party | None = None  # of a race; at barriers and masks, one who was elsewhere
    count: int = 1  # how often it was met
    seed: int = 0  # the first schedule that showed it
    library: str = ""  # such as "cuda/pipeline:491": where in a library that the line calls
    launched: tuple[str, ...] = ()  # of a whole program: where from, as "main.cu:30", and its callers

    @property
    def advice(self) -> str | None:
        """What mends it, in a sentence, and where more is said."""
        said = _particular_advice(self.message)
        return _with_more(said, self.kind) if said else advice_for(self.kind)

    def __str__(self) -> str:
        parts = [f"{_place(self)}block {self.block}, thread {self.thread}"]
        if self.other is not None:
            parts.append(f"the other party: {self.other}")
        if self.launched:
            parts.append(f"launched at {', called from '.join(self.launched)}")
        if self.count > 1:
            parts.append(f"met {self.count:,} times")
        if self.seed:
            parts.append(f"first under seed {self.seed}")
        return f"{self.kind}: {self.message} ({'; '.join(parts)})"


def _place(at: Party | Finding) -> str:
    if not at.line:
        return ""
    return f"{at.file}:{at.line} (in {at.library}), " if at.library else f"{at.file}:{at.line}, "


def merged(findings: Iterable[Finding]) -> list[Finding]:
    """Each kind at each place once: as it was first met, with its counts summed.

    The parties of a race may change sides from schedule to schedule, and a loop that was unrolled has the
    same access many times; it is the same finding. A read that came before the write that it races with has
    found nothing written: that is no finding of its own.
    """
    kept: dict[object, Finding] = {}
    for finding in findings:
        unknown = None if finding.line else finding.message
        key = finding.kind, _places(finding), finding.other is None, unknown
        known = kept.get(key)
        kept[key] = finding if known is None else replace(known, count=known.count + finding.count)
    racing = {place for finding in kept.values() if finding.kind == "race" for place in _places(finding)}
    return [each for each in kept.values() if each.kind != "uninitialized" or not _places(each) & racing]


def _places(finding: Finding) -> frozenset[tuple[str, int]]:
    """The lines of its parties; one that is not known is none."""
    parties = [finding] if finding.other is None else [finding, finding.other]
    return frozenset((each.file, each.line) for each in parties if each.line)


def advice_for(kind: Kind, *, of_host: bool = False) -> str | None:
    """What mends findings of that kind, of kernels or of host code."""
    said = _ADVICE_FOR_HOST.get(kind, _ADVICE.get(kind)) if of_host else _ADVICE.get(kind)
    return _with_more(said, kind) if said else None


def _with_more(said: str, kind: Kind) -> str:
    return f"{said} `flashpath explain-finding {kind}` says more."


def _particular_advice(message: str) -> str | None:
    if message.startswith("the stack of the thread"):
        return "Recursion must end before that: look at the condition that ends it."
    if message.startswith("a call by address"):
        return "Look at where the function's address comes from."
    if message.startswith("a matrix operation"):
        return "The 32 lanes of a warp must reach a matrix operation together, with one address and stride."
    if message.startswith("nobody can go on"):
        return (
            "Look for what they spin on, a flag, lock or counter that no thread changes any more, or for "
            "a loop whose condition nothing in it changes."
        )
    return None


class KernelFault(FlashpathError):
    """A kernel was stopped on the virtual GPU. What it wrote before it was stopped is in the arrays."""

    def __init__(self, kernel: str, finding: Finding) -> None:
        super().__init__(f"{kernel}: {finding}.", finding.advice)
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
