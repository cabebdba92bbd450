"""Why warps wait: the reasons that Nsight Compute tells apart, each in a line of our own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

ISSUING = "selected"  # no wait: the warp whose instruction was issued

_MEANINGS = {
    "barrier": "at __syncthreads(), for the other warps of the block",
    "branch_resolving": "for a jump to be worked out: many short branches",
    "dispatch_stall": "for the dispatcher, which held an instruction back",
    "drain": "at its end, for its last stores to leave",
    "gmma": "for the tensor cores' asynchronous products (wgmma)",
    "imc_miss": "for a constant that was not in its cache, such as a kernel's parameter at first use",
    "lg_throttle": "for room in the queue of global and local accesses: too many small ones at once",
    "long_scoreboard": "for data from global or local memory: more warps or more loads in flight hide it",
    "math_pipe_throttle": "for an arithmetic unit that is busy: that unit is what bounds it",
    "membar": "at a memory fence, for its earlier accesses to be seen",
    "mio_throttle": "for room in the queue of shared memory and special functions: fewer, wider accesses",
    "misc": "for something else",
    "no_instruction": "for its next instruction to be fetched: a start, a jump, or long code",
    "not_selected": "although ready: another warp was taken, so there are warps enough",
    "short_scoreboard": "for shared memory or a special function: look at bank conflicts",
    "sleeping": "in __nanosleep()",
    "tex_throttle": "for room in the queue of textures",
    "wait": "a fixed time between two dependent instructions: independent ones in between hide it",
    "warpgroup_arrive": "for the other warps of its group before a wgmma",
}


@dataclass(frozen=True)
class Stall:
    """A reason to wait, and its share of the time between two instructions of a warp."""

    reason: str
    share: float

    @property
    def meaning(self) -> str:
        return _MEANINGS.get(self.reason, "a reason of this GPU that is not described here")


def top_stalls(cycles: Mapping[str, float], most: int = 3, least: float = 0.02) -> tuple[Stall, ...]:
    """The reasons that take the most; `cycles` has those of each reason for an instruction issued."""
    total = sum(cycles.values())
    if not total:
        return ()
    stalls = [Stall(reason, value / total) for reason, value in cycles.items() if reason != ISSUING]
    stalls.sort(key=lambda each: -each.share)
    return tuple(each for each in stalls[:most] if each.share >= least)
