"""What the virtual GPU finds wrong with a kernel, and the error that a fault becomes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal, Protocol, TypeVar, get_args

from flashpath.errors import FlashpathError
from flashpath.messages import Message

Kind = Literal[
    "race",
    "weak-order",
    "out-of-bounds",
    "uninitialized",
    "misaligned",
    "divergent-barrier",
    "missing-wait",
    "missing-fence",
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
NOTES: frozenset[Kind] = frozenset({"weak-order"})
"""What is worth knowing, and makes no kernel wrong on the GPUs that there are."""

# A cause is told before what follows from it: a barrier that some threads miss lets others race.
_CAUSES_FIRST: tuple[Kind, ...] = (
    "use-after-free", "bad-pointer", "wrong-direction", "deadlock", "timeout", "assert", "trap",
    "divergent-barrier", "bad-mask", "missing-wait", "missing-fence", "misaligned", "out-of-bounds",
    "const-write",
    "unchecked-error", "missing-sync", "race", "uninitialized", "leak", "weak-order",
)  # fmt: skip
_RANK = {kind: place for place, kind in enumerate(_CAUSES_FIRST)}
Dim3 = tuple[int, int, int]

_ADVICE: dict[str, str] = {
    "race": "vgpu.advice-race",
    "weak-order": "vgpu.advice-guess-beside-atomics",
    "out-of-bounds": "vgpu.advice-out-of-bounds",
    "uninitialized": "vgpu.advice-uninitialized",
    "misaligned": "vgpu.advice-misaligned",
    "divergent-barrier": "vgpu.advice-divergent-barrier",
    "missing-wait": "vgpu.advice-missing-wait",
    "missing-fence": "vgpu.advice-missing-fence",
    "deadlock": "vgpu.advice-deadlock",
    "timeout": "vgpu.advice-timeout",
    "bad-mask": "vgpu.advice-bad-mask",
    "const-write": "vgpu.advice-const-write",
    "leak": "vgpu.advice-leak",
    "assert": "vgpu.advice-assert",
    "trap": "vgpu.advice-trap",
    "missing-sync": "vgpu.advice-missing-sync",
    "use-after-free": "vgpu.advice-use-after-free",
    "wrong-direction": "vgpu.advice-wrong-direction",
    "unchecked-error": "vgpu.advice-unchecked-error",
    "bad-pointer": "vgpu.advice-bad-pointer",
}
_ADVICE_FOR_HOST: dict[str, str] = {
    "leak": "vgpu.advice-leak-of-host",
    "out-of-bounds": "vgpu.advice-out-of-bounds-of-host",
}
_ADVICE_FOR_CODE: dict[str, str] = {
    "vgpu.stack-full": "vgpu.advice-stack-full",
    "vgpu.called-no-function": "vgpu.advice-called-by-address",
    "vgpu.called-with-other-parameters": "vgpu.advice-called-by-address",
    "vgpu.matrix-lanes-missing": "vgpu.advice-matrix-lanes",
    "vgpu.nobody-goes-on": "vgpu.advice-nobody-goes-on",
    "vgpu.nobody-goes-on-without-room": "vgpu.advice-nobody-goes-on",
    "vgpu.no-fence-after-atomic": "vgpu.advice-no-fence-after-atomic",
    "vgpu.no-barrier-after-exchange": "vgpu.advice-no-barrier-after-exchange",
}
_ACTIONS = {"read": "vgpu.action-read", "write": "vgpu.action-write", "atomic": "vgpu.action-atomic"}


@dataclass(frozen=True)
class Party:
    """A thread at a place in the source, and what it did there."""

    action: str  # "read", "write" or "atomic"; empty where nothing needs to be said
    file: str  # empty where the PTX has no line table
    line: int  # 0 where it is unknown
    block: Dim3
    thread: Dim3
    library: str = ""  # such as "cuda/pipeline:491": where in a library that the line calls

    @property
    def said(self) -> Message:
        """Returns where the thread was, and what it did there."""
        where = _place(self)
        if not self.action:
            return where
        return Message("vgpu.acted-at", {"action": action_said(self.action), "where": where})

    def __str__(self) -> str:
        return self.said.text()


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong, and where."""

    kind: Kind
    said: Message
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
    def message(self) -> str:
        """Returns what happened, in the language that is spoken."""
        return self.said.text()

    @property
    def advice(self) -> str:
        """Returns what mends it, in a sentence, and where more is said."""
        return self.advised.text()

    @property
    def advised(self) -> Message:
        """Returns what mends it, as data."""
        return advice_for(self.kind, self.said.code)

    @property
    def summary(self) -> Message:
        """The kind, what happened, where, and how often."""
        parts: list[Message | str] = [_place(self)]
        if self.other is not None:
            parts.append(Message("vgpu.other-party", {"party": self.other.said}))
        if self.launched:
            parts.append(Message("vgpu.launched-at", {"where": called(self.launched)}))
        parts += met(self.count)
        if self.seed:
            parts.append(Message("vgpu.first-seed", {"seed": self.seed}))
        return summary(self.kind, self.said, parts)

    def __str__(self) -> str:
        return self.summary.text()

    def as_data(self) -> dict[str, Any]:
        """Returns plain data, ready for `json.dumps`."""
        rest = {each.name: getattr(self, each.name) for each in fields(self)}
        return rest | {"said": self.said.as_data(), "other": self.other and asdict(self.other)}

    @staticmethod
    def from_data(data: Mapping[str, Any]) -> Finding:
        """Reads what `as_data` wrote."""

        def party(row: Mapping[str, Any]) -> dict[str, Any]:
            return {**row, "block": tuple(row["block"]), "thread": tuple(row["thread"])}

        made = party(data)
        made["said"], made["launched"] = Message.from_data(data["said"]), tuple(data["launched"])
        made["other"] = data["other"] and Party(**party(data["other"]))
        return Finding(**made)


def _place(at: Party | Finding) -> Message:
    thread = Message("vgpu.thread-of-block", {"block": str(at.block), "thread": str(at.thread)})
    if not at.line:
        return thread
    source: str | Message = f"{at.file}:{at.line}"
    if at.library:
        source = Message("vgpu.in-library", {"source": source, "library": at.library})
    return Message("vgpu.at-source", {"source": source, "thread": thread})


# ---- What findings of kernels and of host code share -------------------------------------------------------


def action_said(action: str) -> Message:
    """Returns the name of what a thread did: "read", "write" or "atomic"."""
    return Message(_ACTIONS[action])


def called(places: Sequence[object]) -> Message | str:
    """Says a place and the places of its callers."""
    first, *callers = map(str, places)
    said: Message | str = first
    for caller in callers:
        said = Message("vgpu.called-from", {"where": said, "caller": caller})
    return said


def met(count: int) -> list[Message]:
    """Says how often a finding was met, where that was more than once."""
    return [Message("vgpu.met-times", {"count": count})] if count > 1 else []


def summary(kind: Kind, said: Message, parts: Sequence[Message | str]) -> Message:
    """Says a finding in one line."""
    details, *others = parts
    for part in others:
        details = Message("vgpu.and-then", {"first": details, "next": part})
    return Message("vgpu.finding", {"kind": kind, "what": said, "details": details})


class _HasKind(Protocol):
    @property
    def kind(self) -> Kind: ...


_F = TypeVar("_F", bound=_HasKind)


def by_cause(findings: Iterable[_F]) -> list[_F]:
    """Returns the findings, those that others follow from first."""
    return sorted(findings, key=lambda finding: _RANK[finding.kind])


def without_notes(findings: Iterable[_F]) -> list[_F]:
    """Returns the findings that make a kernel or a program wrong."""
    return [finding for finding in findings if finding.kind not in NOTES]


def merged(findings: Iterable[Finding]) -> list[Finding]:
    """Each kind at each place once, causes first: as it was first met, with its counts summed.

    The parties of a race may change sides from schedule to schedule, and a loop that was unrolled has the
    same access many times; it is the same finding. Of races between the same lines, one between warps or
    blocks is told. A read that came before the write that it races with, in another schedule, has found
    nothing written: that is no finding of its own.
    """
    kept: dict[object, Finding] = {}
    for finding in findings:
        unknown = None if finding.line else str(finding.said.as_data())
        key = finding.kind, _places(finding), finding.other is None, unknown
        known = kept.get(key)
        if known is None:
            kept[key] = finding
            continue
        told = finding if _is_within_warp(known) and not _is_within_warp(finding) else known
        kept[key] = replace(told, count=known.count + finding.count)
    racing: dict[tuple[str, int], set[int]] = {}  # the schedules that showed a race there
    for finding in kept.values():
        for place in _places(finding) if finding.kind == "race" else ():
            racing.setdefault(place, set()).add(finding.seed)

    def follows(finding: Finding) -> bool:
        places = [racing[place] for place in _places(finding) if place in racing]
        return finding.kind == "uninitialized" and any(finding.seed not in seeds for seeds in places)

    return by_cause(finding for finding in kept.values() if not follows(finding))


def _is_within_warp(finding: Finding) -> bool:
    return finding.said.code in ("vgpu.race-other-lane", "vgpu.race-same-write")


def _places(finding: Finding) -> frozenset[tuple[str, int]]:
    """The lines of its parties; one that is not known is none."""
    parties = [finding] if finding.other is None else [finding, finding.other]
    return frozenset((party.file, party.line) for party in parties if party.line)


def advice_for(kind: Kind, code: str = "", *, of_host: bool = False) -> Message:
    """Returns what mends findings of that kind, of kernels or of host code; a code may have its own."""
    general = _ADVICE_FOR_HOST.get(kind, _ADVICE[kind]) if of_host else _ADVICE[kind]
    return Message("vgpu.advice", {"what": Message(_ADVICE_FOR_CODE.get(code, general)), "kind": kind})


class KernelFault(FlashpathError):
    """A kernel was stopped on the virtual GPU. What it wrote before it was stopped is in the arrays."""

    def __init__(self, kernel: str, finding: Finding) -> None:
        super().__init__("vgpu.kernel-fault", kernel=kernel, finding=finding.summary, advice=finding.advised)
        self.finding = finding

    @property
    def kind(self) -> Kind:
        """The kind of the finding."""
        return self.finding.kind

    @property
    def message(self) -> str:
        """Returns what happened."""
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
