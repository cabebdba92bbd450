"""How a launch on the virtual GPU is run, and what is watched while it runs."""

from __future__ import annotations

import functools
import os
from dataclasses import dataclass
from typing import TypeGuard

from flashpath.errors import FlashpathError
from flashpath.vgpu.report.access import FIRST_ACCESSES, Trace

# A launch stops after so many instructions of warps: some minutes of work, and the end of an endless loop.
WARP_INSTRUCTION_BUDGET = 20_000_000_000

# More threads of the host than any machine has cores only cost memory.
MOST_HOST_THREADS = 1024


def _is_whole(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


@functools.cache
def host_threads() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True)
class Options:
    """What a launch may be told; wrong values are refused here, before anything runs."""

    exact: bool = True
    """The bits of the hardware; False: fast sums in tensor cores, and the host's library of functions."""
    count: bool = False
    """Whether the work of each instruction is counted."""
    trace: Trace = FIRST_ACCESSES
    """Of a counted launch: the accesses whose addresses are kept."""
    sanitize: bool = False
    """Whether races, uninitialised memory and misuse are looked for; findings are then listed, not raised."""
    seed: int = 0
    """Which schedule: 0 is the plain one, every other number another one that a GPU might choose."""
    budget: int = WARP_INSTRUCTION_BUDGET
    """After so many instructions of warps the launch is stopped."""
    threads: int | None = None
    """Of the host; None: all cores if the order of blocks cannot be seen in the results, else one."""

    def __post_init__(self) -> None:
        if not isinstance(self.exact, bool):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise FlashpathError(
                f"exact is {self.exact!r}.",
                "Give True for the bits of the hardware, False for fast tensor cores and library functions.",
            )
        if not _is_whole(self.budget) or not 1 <= self.budget < 1 << 64:
            raise FlashpathError(
                f"budget is {self.budget!r}.",
                f"Give the number of warp instructions after which a launch is stopped, such as "
                f"{WARP_INSTRUCTION_BUDGET}.",
            )
        if self.threads is not None and (
            not _is_whole(self.threads) or not 1 <= self.threads <= MOST_HOST_THREADS
        ):
            raise FlashpathError(
                f"threads is {self.threads!r}.",
                f"Give a number of host threads from 1 to {MOST_HOST_THREADS}; this process has "
                f"{host_threads()} cores. Left out, it is chosen for you.",
            )
        if not _is_whole(self.seed) or not 0 <= self.seed < 1 << 64:
            raise FlashpathError(
                f"seed is {self.seed!r}.", "Give a whole number from 0 on: each stands for one schedule."
            )
        if not isinstance(self.trace, Trace):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise FlashpathError(
                f"trace is {self.trace!r}.", "Give a flashpath.vgpu.report.Trace(block=…, warp=…)."
            )

    def host_threads(self, order_matters: bool) -> int:
        """How many threads of the host run blocks."""
        if self.sanitize or self.seed:
            return 1  # one order of events, the same in every run
        if self.threads is not None:
            return self.threads
        return 1 if order_matters else host_threads()


DEFAULT = Options()
