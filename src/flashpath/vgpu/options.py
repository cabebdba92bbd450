"""How a launch on the virtual GPU is run, and what is watched while it runs."""

from __future__ import annotations

import functools
import os
from dataclasses import dataclass

from flashpath.errors import FlashpathError
from flashpath.vgpu.report.access import FIRST_ACCESSES, Trace
from flashpath.vgpu.whole import truth, whole

# A launch stops after so many instructions of warps: some minutes of work, and the end of an endless loop.
WARP_INSTRUCTION_BUDGET = 20_000_000_000

# More threads of the host than any machine has cores only cost memory.
MOST_HOST_THREADS = 1024


@functools.cache
def host_threads() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def checked_exact(value: object) -> bool:
    """Checks what a caller gave as `exact=`, and returns it."""
    exact = truth(value)
    if exact is None:
        raise FlashpathError("vgpu.exact", value=repr(value))
    return exact


@dataclass(frozen=True)
class Options:
    """The options of a launch; wrong values are refused here, before anything runs. Those of NumPy become
    Python's own."""

    exact: bool = True
    """The bits of the hardware; False: fast sums in tensor cores, and the host's library of functions."""
    count: bool = False
    """Whether the work of each instruction is counted."""
    trace: Trace = FIRST_ACCESSES
    """The accesses of a counted launch whose addresses are kept."""
    sanitize: bool = False
    """Whether races, uninitialised memory and misuse are looked for; findings are then listed, not raised."""
    seed: int = 0
    """Which schedule: 0 is the plain one, every other number another one that a GPU might choose."""
    budget: int = WARP_INSTRUCTION_BUDGET
    """After so many instructions of warps the launch is stopped."""
    threads: int | None = None
    """Threads of the host; None: all cores if the order of blocks cannot be seen in the results, else one."""
    accessed: bool = False
    """Whether a sanitised launch tells which bytes of its arrays it has read and written."""

    def __post_init__(self) -> None:
        self._settle("exact", checked_exact(self.exact))
        budget = whole(self.budget)
        if budget is None or not 1 <= budget < 1 << 64:
            raise FlashpathError("vgpu.budget", value=repr(self.budget), example=WARP_INSTRUCTION_BUDGET)
        self._settle("budget", budget)
        threads = None if self.threads is None else whole(self.threads) or 0
        if threads is not None and not 1 <= threads <= MOST_HOST_THREADS:
            raise FlashpathError(
                "vgpu.threads", value=repr(self.threads), most=MOST_HOST_THREADS, cores=host_threads()
            )
        self._settle("threads", threads)
        seed = whole(self.seed)
        if seed is None or not 0 <= seed < 1 << 64:
            raise FlashpathError("vgpu.seed", value=repr(self.seed))
        self._settle("seed", seed)
        if not isinstance(self.trace, Trace):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise FlashpathError("vgpu.trace", value=repr(self.trace))

    def _settle(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)  # while it is made, and never again

    def host_threads(self, order_matters: bool) -> int:
        """Returns how many threads of the host run blocks."""
        if self.sanitize or self.seed:
            return 1  # one order of events, the same in every run
        if self.threads is not None:
            return self.threads
        return 1 if order_matters else host_threads()


DEFAULT = Options()
