"""Which launch of one run is which of another: the n-th of a kernel is the n-th of it there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from flashpath.messages import say


class Launch(NamedTuple):
    """A launch, as it is known in every run."""

    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]


@dataclass(frozen=True)
class Matches:
    """The place in the other run of each launch of the first, and what did not fit."""

    places: tuple[int | None, ...]
    rest: tuple[int, ...]
    """Launches of the other run that are nobody's like."""
    unlike: tuple[str, ...]
    """Sentences that say where the runs differ."""


def match(
    counted: Sequence[Launch], measured: Sequence[Launch], where: str, *, cut_short: bool = False
) -> Matches:
    """Pair the launches. Of a kernel whose grids or blocks differ nothing is paired from there on.

    `where` says what the other run was; `cut_short` that its last launches may be missing.
    """
    places: list[int | None] = [None] * len(counted)
    unlike: list[str] = []
    rest: list[int] = []
    names = dict.fromkeys(each.kernel for each in (*counted, *measured))
    for name in names:
        ours = [at for at, each in enumerate(counted) if each.kernel == name]
        theirs = [at for at, each in enumerate(measured) if each.kernel == name]
        alike = 0
        while alike < min(len(ours), len(theirs)) and counted[ours[alike]] == measured[theirs[alike]]:
            places[ours[alike]] = theirs[alike]
            alike += 1
        rest += theirs[alike:]
        if alike < min(len(ours), len(theirs)):
            here, there = counted[ours[alike]], measured[theirs[alike]]
            unlike.append(
                say(
                    "bench.nsight-other-shape",
                    name=name,
                    number=alike + 1,
                    grid=str(here.grid),
                    block=str(here.block),
                    other_grid=str(there.grid),
                    other_block=str(there.block),
                    where=where,
                )
            )
        elif len(theirs) != len(ours) and not (cut_short and len(theirs) < len(ours)):
            unlike.append(
                say(
                    "bench.nsight-other-count",
                    name=name,
                    here=_times(len(ours)),
                    there=_times(len(theirs)),
                    where=where,
                )
            )
    return Matches(tuple(places), tuple(sorted(rest)), tuple(unlike))


def _times(count: int) -> str:
    if count == 0:
        return say("bench.nsight-never")
    return say("bench.nsight-once") if count == 1 else say("bench.nsight-times", count=count)
