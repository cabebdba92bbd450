"""A launch under one schedule or several, with all that is found wrong in it."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from flashpath.errors import FlashpathError
from flashpath.vgpu.findings import Finding, merged
from flashpath.vgpu.launch import Launch
from flashpath.vgpu.options import Options
from flashpath.vgpu.whole import whole

if TYPE_CHECKING:
    from flashpath.vgpu._engine import ModuleState

# A sanitised launch is stopped after so many instructions of warps, under each schedule.
SANITIZE_BUDGET = 2_000_000_000

# Each takes as long as a launch: more than anybody waits for.
MOST_SEEDS = 1_000_000

# Called before each schedule with its number and how many there are.
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Schedules:
    """The schedules of a sanitised launch: seeds 0 to `seeds` - 1, each one that a GPU might choose."""

    options: Options
    seeds: int = 1
    progress: Progress | None = None

    def __post_init__(self) -> None:
        seeds = whole(self.seeds)
        if seeds is None or not 1 <= seeds <= MOST_SEEDS:
            raise FlashpathError("vgpu.seeds", value=repr(self.seeds), most=MOST_SEEDS)
        object.__setattr__(self, "seeds", seeds)  # one of NumPy's becomes Python's own
        if self.progress is not None and not callable(self.progress):
            raise FlashpathError("vgpu.progress", value=f"{self.progress!r:.80}")

    def run(self, launch: Launch) -> list[Finding]:
        """Runs the launch under each schedule, from the same memory.

        The first one's results stay. After a launch that was stopped for its budget no further schedule is
        tried: it would take as long.
        """

        def under(seed: int) -> list[Finding]:
            if self.progress is not None:
                self.progress(seed, self.seeds)
            launched = launch.run(replace(self.options, sanitize=True, seed=seed))
            return [replace(finding, seed=seed) for finding in launched.findings]

        if self.seeds == 1:
            return merged(under(0))
        memory = _Memory(launch)
        found = under(0)
        with memory.kept():
            for seed in range(1, self.seeds):
                if any(finding.kind == "timeout" for finding in found):
                    break
                memory.restore()
                found += under(seed)
        return merged(found)


class _Memory:
    """The arrays and module's variables that a launch may write, as they are when this is made."""

    def __init__(self, launch: Launch) -> None:
        self._program = launch.kernel.program
        self._places = [
            (array.first, array.last - array.first)
            for array in (*launch.arguments.arrays, *launch.arguments.pointed_to)
            if array.writable and array.last > array.first
        ]
        self._arrays = self._copies()
        self._module: ModuleState = self._program.save()

    def restore(self) -> None:
        """Make it what it was."""
        self._write(self._arrays)
        self._program.restore(self._module)

    @contextmanager
    def kept(self) -> Generator[None]:
        """Restores at the end what is there now, also when the launches in between are stopped."""
        arrays, module = self._copies(), self._program.save()
        try:
            yield
        finally:
            self._write(arrays)
            self._program.restore(module)

    def _copies(self) -> list[bytes]:
        return [ctypes.string_at(address, size) for address, size in self._places]

    def _write(self, copies: Sequence[bytes]) -> None:
        for (address, size), copy in zip(self._places, copies, strict=True):
            ctypes.memmove(address, copy, size)
