"""What `patch` did: each module that it changed, and each that it left as it was, with the reason."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from flashpath.messages import Message, say


@dataclass(frozen=True)
class Replaced:
    """A module that flashpath computes now."""

    name: str
    """Its name in the model; "" is the model itself."""
    was: str
    """Its class."""
    by: str
    """The operator that answers."""

    def __str__(self) -> str:
        return say("nn.report-replaced", name=self.name or ".", was=self.was, by=self.by)


@dataclass(frozen=True)
class Kept:
    """A module that stays as it was."""

    name: str
    was: str
    why: Message

    def __str__(self) -> str:
        return say("nn.report-kept", name=self.name or ".", was=self.was, why=self.why)


@dataclass(frozen=True)
class PatchReport:
    """What was replaced, what was not and why, and what else is worth knowing. `print(report)` groups it."""

    replaced: tuple[Replaced, ...]
    kept: tuple[Kept, ...]
    notes: tuple[Message, ...] = ()

    def __str__(self) -> str:
        lines = [say("nn.report-head", replaced=len(self.replaced), kept=len(self.kept))]
        lines += _grouped((each.name, f"{each.was} → {each.by}") for each in self.replaced)
        if self.kept:
            lines += [say("nn.report-kept-head")]
            lines += _grouped((each.name, f"{each.was}: {each.why}") for each in self.kept)
        lines += [str(note) for note in self.notes]
        return "\n".join(lines)


def _grouped(entries: Iterable[tuple[str, str]]) -> list[str]:
    """One line for all that are alike, with the first of their names."""
    groups: dict[str, list[str]] = {}
    for name, text in entries:
        groups.setdefault(text, []).append(name or ".")
    return [f"  {len(names):>3} × {text}  ({_names(names)})" for text, names in groups.items()]


def _names(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]}, …"
