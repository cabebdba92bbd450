"""What ptxas says a kernel uses of an SM: registers, shared and local memory, spills."""

from __future__ import annotations

import re
from dataclasses import dataclass

from flashpath.vgpu import cubin

_FUNCTION = re.compile(r"Compiling entry function '([^']+)'")
_SPILLS = re.compile(r"(\d+) bytes spill stores, (\d+) bytes spill loads")
_USED = re.compile(r"Used \d+ registers.*")
_SHARED = re.compile(r"(\d+) bytes smem")
_BARRIERS = re.compile(r"used (\d+) barriers")


@dataclass(frozen=True)
class Resources(cubin.Resources):
    """The resources that ptxas tells in its log besides: spilled bytes of a thread, barriers of a block."""

    spill_stores: int
    spill_loads: int
    barriers: int


def read_resources(code: bytes, log: str) -> dict[str, Resources]:
    """Returns the resources of all kernels by their mangled names, from a cubin and the log of `ptxas -v`."""
    found: dict[str, Resources] = {}
    parts = _FUNCTION.split(log)
    for name, text in zip(parts[1::2], parts[2::2], strict=True):
        # ptxas reports a kernel's own frame before those of the functions it calls.
        spills, used = _SPILLS.search(text), _USED.search(text)
        if used is None:
            continue
        shared, barriers = _SHARED.search(used[0]), _BARRIERS.search(used[0])
        found[name] = Resources(
            **vars(cubin.read_resources(code, name, int(shared[1]) if shared else 0)),
            spill_stores=int(spills[1]) if spills else 0,
            spill_loads=int(spills[2]) if spills else 0,
            barriers=int(barriers[1]) if barriers else 0,
        )
    return found
