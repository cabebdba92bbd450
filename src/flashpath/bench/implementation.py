"""What is compared: a function, and what there is to say about it besides its speed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from flashpath.bench.loc import count_file, count_function
from flashpath.errors import FlashpathError
from flashpath.kernels.rung import Case, Declines, Peer, Score
from flashpath.messages import Message


@dataclass(frozen=True)
class Implementation:
    """One way to compute the same thing. `file` is counted for lines of code, else the function alone."""

    function: Callable[..., Any]
    language: str | None = None
    file: str | Path | None = None
    dev_hours: float | None = None
    readability: Score | None = None
    debugging: Score | None = None
    portability: Sequence[str] | None = None
    is_peer: bool = False
    obstacle: Message | None = None  # why it cannot run on this machine: then it is skipped
    declines: Declines | None = None  # why it does not take a case: skipped there

    def obstacle_to(self, case: Case) -> Message | None:
        """Why it is skipped in this case, if it is."""
        reason = self.declines(case) if self.declines else None
        return self.obstacle or reason

    @property
    def lines_of_code(self) -> int | None:
        """None for a peer: the function that calls a library says nothing about the library."""
        if self.file is not None:
            return count_file(Path(self.file))
        return None if self.is_peer else count_function(self.function)


Implementations = Mapping[str, "Callable[..., Any] | Implementation | Peer"]


def collect(
    implementations: Implementations, peers: Implementations | Collection[str]
) -> dict[str, Implementation]:
    """All that is compared, by name. `peers` adds more of them, or names those that are peers already."""
    if not isinstance(implementations, Mapping):
        raise FlashpathError("bench.implementations-unnamed", kind=type(implementations).__name__)
    if isinstance(peers, str) or not isinstance(peers, Collection):
        raise FlashpathError("bench.peers-kind", peers=repr(peers))
    collected = {name: as_implementation(name, given) for name, given in implementations.items()}
    if isinstance(peers, Mapping):
        for name, given in cast("Implementations", peers).items():
            if name in collected:
                raise FlashpathError("bench.peer-twice", name=name)
            collected[name] = replace(as_implementation(name, given), is_peer=True)
    else:
        for name in peers:
            if name not in collected:
                raise FlashpathError(
                    "bench.peer-unknown", name=name, names=list(collected) or Message("bench.none")
                )
            collected[name] = replace(collected[name], is_peer=True)
    if not collected:
        raise FlashpathError("bench.nothing-to-compare")
    return collected


def as_implementation(name: str, given: object) -> Implementation:
    if isinstance(given, Implementation):
        return given
    if isinstance(given, Peer):
        return Implementation(given.function, declines=given.declines)
    if callable(given):
        return Implementation(given)
    raise FlashpathError("bench.not-callable", name=name, kind=type(given).__name__)
