"""What shows that a task is done: `first-kernel/vector-add`, `note:week-1`, `set:cuda-basics`, `seen:…`."""

from __future__ import annotations

from dataclasses import dataclass

UNIT, EXERCISE, NOTE, SET, SEEN = "unit", "exercise", "note", "set", "seen"
_PREFIXES = (NOTE, SET, SEEN)
RAN = "ran-"  # seen:ran-NAME: a program of the work folder that ended well under `flashpath run`
SIGHTS = ("toolkit", "torch", "flash-attn")  # what `flashpath doctor` sees


@dataclass(frozen=True)
class Proof:
    """All of a unit or one exercise passed, a note written, a problem set solved, a thing seen."""

    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}" if self.kind in _PREFIXES else self.name

    @property
    def unit(self) -> str | None:
        """The unit that must be passed, whole or in part."""
        return self.name.partition("/")[0] if self.kind in (UNIT, EXERCISE) else None


def proof_of(text: str) -> Proof:
    """What a track's `done_by` says."""
    prefix, colon, name = text.partition(":")
    if colon and prefix in _PREFIXES:
        return Proof(prefix, name)
    return Proof(EXERCISE if "/" in text else UNIT, text)
