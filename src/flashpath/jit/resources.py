"""What ptxas says a kernel uses of an SM: registers, shared and local memory, spills."""

from __future__ import annotations

import re
from dataclasses import dataclass

_FUNCTION = re.compile(r"Compiling entry function '([^']+)'")
_SPILLS = re.compile(
    r"(?P<stack>\d+) bytes stack frame, (?P<stores>\d+) bytes spill stores, (?P<loads>\d+) bytes spill loads"
)
_USED = re.compile(r"Used (\d+) registers")
_SHARED = re.compile(r"(\d+) bytes smem")
_BARRIERS = re.compile(r"used (\d+) barriers")


@dataclass(frozen=True)
class Resources:
    """Per kernel; memory in bytes, registers and local memory per thread, static shared memory per block."""

    registers: int
    static_shared: int
    local_memory: int  # the stack frame: arrays indexed at run time, spilled registers, call frames
    spill_stores: int
    spill_loads: int
    barriers: int


def read_resources(log: str) -> dict[str, Resources]:
    """By mangled name, from the log of `ptxas -v`."""
    found: dict[str, Resources] = {}
    parts = _FUNCTION.split(log)
    for name, text in zip(parts[1::2], parts[2::2], strict=True):
        # ptxas reports a kernel's own frame before those of the functions it calls.
        spills = _SPILLS.search(text)
        used = _USED.search(text)
        if used is None:
            continue
        line = text[used.start() :].partition("\n")[0]
        shared, barriers = _SHARED.search(line), _BARRIERS.search(line)
        found[name] = Resources(
            registers=int(used[1]),
            static_shared=int(shared[1]) if shared else 0,
            local_memory=int(spills["stack"]) if spills else 0,
            spill_stores=int(spills["stores"]) if spills else 0,
            spill_loads=int(spills["loads"]) if spills else 0,
            barriers=int(barriers[1]) if barriers else 0,
        )
    return found
