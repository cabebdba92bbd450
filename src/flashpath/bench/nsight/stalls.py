"""Why warps wait: the reasons that Nsight Compute tells apart, each in a line of our own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from flashpath.messages import say

ISSUING = "selected"  # no wait: the warp whose instruction was issued

_MEANINGS = {
    "barrier": "bench.nsight-stall-barrier",
    "branch_resolving": "bench.nsight-stall-branch-resolving",
    "dispatch_stall": "bench.nsight-stall-dispatch-stall",
    "drain": "bench.nsight-stall-drain",
    "gmma": "bench.nsight-stall-gmma",
    "imc_miss": "bench.nsight-stall-imc-miss",
    "lg_throttle": "bench.nsight-stall-lg-throttle",
    "long_scoreboard": "bench.nsight-stall-long-scoreboard",
    "math_pipe_throttle": "bench.nsight-stall-math-pipe-throttle",
    "membar": "bench.nsight-stall-membar",
    "mio_throttle": "bench.nsight-stall-mio-throttle",
    "misc": "bench.nsight-stall-misc",
    "no_instruction": "bench.nsight-stall-no-instruction",
    "not_selected": "bench.nsight-stall-not-selected",
    "short_scoreboard": "bench.nsight-stall-short-scoreboard",
    "sleeping": "bench.nsight-stall-sleeping",
    "tex_throttle": "bench.nsight-stall-tex-throttle",
    "wait": "bench.nsight-stall-wait",
    "warpgroup_arrive": "bench.nsight-stall-warpgroup-arrive",
}


@dataclass(frozen=True)
class Stall:
    """A reason to wait, and its share of the time between two instructions of a warp."""

    reason: str
    share: float

    @property
    def meaning(self) -> str:
        return say(_MEANINGS.get(self.reason, "bench.nsight-stall-unknown"))


def top_stalls(cycles: Mapping[str, float], most: int = 3, least: float = 0.02) -> tuple[Stall, ...]:
    """The reasons that take the most; `cycles` has those of each reason for an instruction issued."""
    total = sum(cycles.values())
    if not total:
        return ()
    stalls = [Stall(reason, value / total) for reason, value in cycles.items() if reason != ISSUING]
    stalls.sort(key=lambda each: -each.share)
    return tuple(each for each in stalls[:most] if each.share >= least)
