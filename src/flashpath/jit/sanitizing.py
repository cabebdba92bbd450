"""`fp.sanitize`: run a kernel on the virtual GPU and list what is wrong with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flashpath.gpus import shape as shapes
from flashpath.jit.virtual import check_launch, is_triton, prepared, ready, triton_driver
from flashpath.vgpu.findings import Finding
from flashpath.vgpu.options import Options
from flashpath.vgpu.sanitizing import SANITIZE_BUDGET, Progress, Schedules


def sanitize(
    kernel: Any,
    grid: Any,
    block: shapes.Dim | None = None,
    args: Sequence[Any] = (),
    device: str | None = None,
    shared: int = 0,
    *,
    seeds: int = 1,
    exact: bool = True,
    budget: int = SANITIZE_BUDGET,
    progress: Progress | None = None,
    cooperative: bool = False,
    cluster: shapes.Dim | None = None,
    **options: Any,
) -> list[Finding]:
    """Run a kernel on the virtual GPU, on arrays of the CPU, and list what is wrong with it; none is raised.

    Races, reads of memory that nobody wrote, accesses out of bounds, missing waits, misused barriers and
    masks, deadlocks, leaks: each with its line, block and thread, and a race with its other party. A bad
    access goes nowhere, and the launch goes on; what cannot go on (a deadlock, a trap) is the last finding of
    its schedule. An empty list says that nothing was met with these arguments.

    A kernel may be wrong only under some orders of its warps and blocks. With `seeds=n` it runs under n of
    them, each time from the same memory; the arrays are left as the first, the plain one, leaves them.
    `progress` is called before each schedule with its number and `n`. A launch that runs more than `budget`
    instructions of warps is stopped (`timeout`), and no further schedule is tried.

    In a `cooperative` launch blocks may wait for each other; blocks of a `cluster` see each other's shared
    memory. A `@triton.jit` kernel brings its own blocks and shared memory; `options` are its keyword arguments.
    """
    schedules = Schedules(Options(exact=exact, sanitize=True, budget=budget), seeds, progress)
    check_launch("fp.sanitize", kernel, block, args, shared, cooperative, options, cluster)
    if is_triton(kernel):
        return triton_driver().sanitize(kernel, grid, args, device, schedules, options)
    shape, gpu = prepared("fp.sanitize", kernel, grid, block, args, device, shared, cooperative, cluster)
    return schedules.run(ready(kernel, shape, args, gpu))
