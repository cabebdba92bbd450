"""Speed of the virtual GPU on one core, beside Triton's interpreter and numba's CUDA simulator.

    python benchmarks/vgpu.py [--json FILE] [--quick] [--numba FOLDER]

Everything runs on one core, in one run, each implementation's calls in turn with the others'. Every result
is compared with NumPy before it is timed. "counted" is `fp.profile`, or a Triton launch that keeps a report:
all counters on, the report made; "sanitised" is `fp.sanitize`: races, uninitialised memory and misuse are
looked for. All of these give the bits of the hardware (exact=True), except where "fast" says that tensor
cores and functions use the host's own arithmetic. numba's simulator runs a few blocks of a launch, and its
time is scaled to all of them.

The marks: at least 100 × as fast as Triton's interpreter on vector add, 10 × on matmul and flash attention,
1,000 × as fast as numba's simulator, all of them counted and fast; exact, still 4 × as fast as Triton's
interpreter; a sanitised launch at most 3 × as long as a counted one; a kernel of 1,000 instructions ready
within 60 ms.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from vgpu_peers import NUMBA_SLICES, Peer
from vgpu_workloads import ARCH, KERNELS, Workload, cuda_workloads, straight_line_ptx, triton_workloads

import flashpath as fp
from flashpath.bench import Timing, read_environment, time_interleaved
from flashpath.bench.failure import shown
from flashpath.bench.timer import CpuTimer
from flashpath.errors import FlashpathError
from flashpath.vgpu.device import VirtualModule

PLAIN, COUNTED, SANITISED = "flashpath", "flashpath, counted", "flashpath, sanitised"
FAST, FAST_COUNTED = "flashpath, fast", "flashpath, fast, counted"
INTERPRETER, SIMULATOR = "Triton's interpreter", "numba's simulator"

FRONT_END_SIZES = (1_000, 10_000)
FRONT_END_MILLISECONDS = 60


@dataclass
class Way:
    """One way to run a case. A call runs `1 / scale` of it."""

    call: Callable[[], Any]
    scale: float = 1.0
    note: str = ""
    instructions: int = 0  # of threads, in PTX, where they are known


@dataclass
class Figure:
    """Milliseconds of one way; `error` says why where there are none."""

    median: float | None = None
    p20: float | None = None
    p80: float | None = None
    samples: int = 0
    note: str = ""
    instructions: int = 0
    error: str = ""

    @classmethod
    def of(cls, timing: Timing, way: Way) -> Figure:
        if timing.median is None or timing.p20 is None or timing.p80 is None:
            return cls(error=shown(timing.error or "not timed", "en"))
        to_ms = 1e3 * way.scale
        return cls(
            timing.median * to_ms,
            timing.p20 * to_ms,
            timing.p80 * to_ms,
            len(timing.samples),
            way.note,
            way.instructions,
        )


def times(factor: float) -> str:
    """A factor as it is written: 1,000 ×, 0.33 ×."""
    return f"{factor:,.2f}".removesuffix(".00") + " ×"


@dataclass
class Mark:
    """How many times as fast as something else flashpath has to be, and is."""

    what: str
    at_least: float
    ratio: float | None

    @property
    def is_met(self) -> bool:
        return self.ratio is not None and self.ratio >= self.at_least

    def __str__(self) -> str:
        found = "not measured" if self.ratio is None else f"{self.ratio:,.2f} ×"
        least = times(self.at_least)
        return f"{'met   ' if self.is_met else 'MISSED'} {self.what}: {found} (at least {least})"


Figures = dict[str, Figure]


@dataclass
class Results:
    """Everything that one run found."""

    cases: dict[str, Figures] = field(default_factory=dict[str, Figures])
    front_end: Figures = field(default_factory=dict[str, Figure])


# ---- flashpath -----------------------------------------------------------------------------------------


def cuda_ways(workload: Workload) -> dict[str, Way]:
    """The workload's kernel on the virtual GPU, in every mode, after its result was found right."""
    kernel = fp.compile(workload.file, ARCH)[workload.kernel]
    ways = _plain_and_counted(workload, kernel, (PLAIN, COUNTED), exact=True)
    ways |= _plain_and_counted(workload, kernel, (FAST, FAST_COUNTED), exact=False)
    arguments = workload.arguments()

    def sanitise() -> None:
        if findings := fp.sanitize(kernel, workload.grid, workload.block, arguments):
            raise AssertionError(f"{workload.name}: {findings[0]}")

    ways[SANITISED] = Way(sanitise, instructions=ways[PLAIN].instructions)
    return ways


def _plain_and_counted(
    workload: Workload, kernel: fp.Kernel, names: tuple[str, str], exact: bool
) -> dict[str, Way]:
    arguments = workload.arguments()
    grid, block = workload.grid, workload.block
    report = fp.profile(kernel, grid, block, arguments, exact=exact)
    workload.check(arguments[workload.output])
    calls = (
        lambda: kernel.launch(grid, block, arguments, exact=exact),
        lambda: fp.profile(kernel, grid, block, arguments, exact=exact),
    )
    return {
        name: Way(call, instructions=report.instructions) for name, call in zip(names, calls, strict=True)
    }


def triton_ways(workload: Workload) -> dict[str, Way]:
    """The same for a Triton kernel."""
    vgpu: Any = fp.vgpu
    sys.path.insert(0, str(KERNELS))
    kernel = getattr(importlib.import_module("triton_kernels"), workload.kernel)
    arguments = workload.arguments()

    keywords: dict[str, Any] = dict(workload.options or {})

    def run(profile: bool, exact: bool) -> Any:
        with vgpu.triton(arch=ARCH, profile=profile, exact=exact) as gpu:
            kernel[workload.grid](*arguments, **keywords)
        return gpu

    def sanitise() -> None:
        if findings := fp.sanitize(kernel, workload.grid, args=arguments, **keywords):
            raise AssertionError(f"{workload.name}: {findings[0]}")

    instructions = 0
    for exact in (True, False):
        gpu = run(profile=True, exact=exact)
        workload.check(arguments[workload.output])
        instructions = gpu.reports[-1].instructions
    calls = {
        PLAIN: lambda: run(profile=False, exact=True),
        COUNTED: lambda: run(profile=True, exact=True),
        FAST: lambda: run(profile=False, exact=False),
        FAST_COUNTED: lambda: run(profile=True, exact=False),
        SANITISED: sanitise,
    }
    return {name: Way(call, instructions=instructions) for name, call in calls.items()}


def front_end(seconds: float) -> Figures:
    """From the text of a kernel to what can be launched, for kernels of different lengths."""
    ways = {f"{size:,} instructions": straight_line_ptx(size) for size in FRONT_END_SIZES}
    timings = time_interleaved(
        {name: lambda text=text: VirtualModule(text).kernel("straight") for name, text in ways.items()},
        seconds=seconds,
        timer=CpuTimer(),
    )
    return {name: Figure.of(timing, Way(print)) for name, timing in timings.items()}


# ---- Peers ---------------------------------------------------------------------------------------------


def simulator_way(numba: Peer, workload: Workload) -> dict[str, Way]:
    blocks, run = NUMBA_SLICES[workload.kernel]
    note = f"{run} of {blocks:,} blocks, scaled"
    return {SIMULATOR: Way(lambda: numba.run(workload.kernel), blocks / run, note)}


# ---- Measuring -----------------------------------------------------------------------------------------

Attempt = Callable[[], dict[str, Way]]


def reason(error: FlashpathError) -> str:
    """What is wrong, in a line: without the advice, and without where in a file on this machine."""
    return str(error).splitlines()[0].rpartition("): ")[2]


def measure(attempts: Mapping[str, Attempt], seconds: float) -> Figures:
    """Prepare every way and time them in turn; what cannot be prepared is reported under its name."""
    ways: dict[str, Way] = {}
    figures: Figures = {}
    for name, attempt in attempts.items():
        try:
            ways.update(attempt())
        except FlashpathError as error:
            figures[name] = Figure(error=f"refused: {reason(error)}")
    calls = {name: way.call for name, way in ways.items()}
    timings = time_interleaved(calls, seconds=seconds, warm_up_calls=1, timer=CpuTimer())
    return figures | {name: Figure.of(timing, ways[name]) for name, timing in timings.items()}


def run_all(quick: bool, peers: Mapping[str, Peer]) -> Results:
    seconds = 0.05 if quick else 1.0
    results = Results()
    for workload in cuda_workloads(quick):
        attempts: dict[str, Attempt] = {PLAIN: lambda w=workload: cuda_ways(w)}
        if "numba" in peers and workload.kernel in NUMBA_SLICES:
            attempts[SIMULATOR] = lambda w=workload: simulator_way(peers["numba"], w)
        results.cases[workload.name] = measure(attempts, seconds)
        print_case(workload.name, results.cases[workload.name])
    for workload in triton_workloads(quick):
        attempts = {PLAIN: lambda w=workload: triton_ways(w)}
        if "triton" in peers:
            attempts[INTERPRETER] = lambda w=workload: {INTERPRETER: Way(lambda: peers["triton"].run(w.name))}
        results.cases[workload.name] = measure(attempts, seconds)
        print_case(workload.name, results.cases[workload.name])
    results.front_end = front_end(seconds)
    return results


# ---- What it means -------------------------------------------------------------------------------------


def ratio(figures: Mapping[str, Figure], slower: str, faster: str) -> float | None:
    """How many times as fast the one is as the other."""
    medians = [figures[name].median if name in figures else None for name in (slower, faster)]
    return medians[0] / medians[1] if medians[0] and medians[1] else None


def marks(results: Results) -> list[Mark]:
    """The promised ratios, for every case that was run with the peer in question."""
    found: list[Mark] = []
    for case, figures in results.cases.items():
        if INTERPRETER in figures:
            least = 100 if "vector add" in case else 10
            found.append(Mark(f"{case}, {INTERPRETER}", least, ratio(figures, INTERPRETER, FAST_COUNTED)))
            found.append(Mark(f"{case}, exact, {INTERPRETER}", 4, ratio(figures, INTERPRETER, PLAIN)))
        if SIMULATOR in figures:
            found.append(Mark(f"{case}, {SIMULATOR}", 1000, ratio(figures, SIMULATOR, FAST_COUNTED)))
        if SANITISED in figures:
            found.append(Mark(f"{case}, sanitised, counted", 1 / 3, ratio(figures, COUNTED, SANITISED)))
    if results.front_end:
        name, figure = next(iter(results.front_end.items()))
        median = figure.median
        found.append(
            Mark(
                f"{name} ready, {FRONT_END_MILLISECONDS} ms",
                1,
                FRONT_END_MILLISECONDS / median if median else None,
            )
        )
    return found


def print_case(case: str, figures: Mapping[str, Figure]) -> None:
    print(case)
    for name, figure in figures.items():
        if figure.median is None:
            print(f"  {name:<32} {figure.error}")
            continue
        rate = figure.instructions / figure.median / 1e3
        more = f"{rate:,.0f} M thread-instructions/s" if rate else figure.note
        print(
            f"  {name:<32} {figure.median:12,.2f} ms  (p20 {figure.p20:,.2f}, p80 {figure.p80:,.2f})  {more}",
            flush=True,
        )


def record_of(results: Results, quick: bool) -> dict[str, Any]:
    """What is written: figures, marks, and the machine and the versions that they belong to."""
    environment = read_environment("cpu")
    versions: Mapping[str, str | None] = environment.versions or {}
    return {
        "cpu": environment.cpu,
        "versions": dict(versions),
        "commit": environment.commit,
        "dirty": environment.dirty,
        "timestamp": datetime.now(UTC).isoformat(timespec="seconds"),
        "quick": quick,
        "milliseconds": {
            case: {name: asdict(figure) for name, figure in figures.items()}
            for case, figures in results.cases.items()
        },
        "front_end": {name: asdict(figure) for name, figure in results.front_end.items()},
        "marks": [{**asdict(mark), "is_met": mark.is_met} for mark in marks(results)],
    }


def use_one_core() -> None:
    """This process, and those that it starts, stay on the last core that they may use."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def numba_is_there(folder: Path | None) -> bool:
    if folder is not None:
        return (folder / "numba").is_dir()
    return importlib.util.find_spec("numba") is not None


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--json", type=Path, help="also write the figures here")
    parser.add_argument(
        "--quick", action="store_true", help="small cases, no peers: only that everything runs"
    )
    parser.add_argument(
        "--numba", type=Path, help="a folder that numba was installed into (pip install --target)"
    )
    options = parser.parse_args(arguments)
    use_one_core()
    with ExitStack() as stack:
        peers: dict[str, Peer] = {}
        if not options.quick:
            peers["triton"] = stack.enter_context(Peer("triton"))
            if numba_is_there(options.numba):
                path = {"PYTHONPATH": os.pathsep.join(filter(None, [str(options.numba or ""), *sys.path]))}
                peers["numba"] = stack.enter_context(Peer("numba", path))
            else:
                print("numba is left out: pip install --target FOLDER numba, then --numba FOLDER")
        results = run_all(options.quick, peers)
    for name, figure in results.front_end.items():
        print(f"PTX of {name} to ready: {figure.error or f'{figure.median:.2f} ms'}")
    print(*marks(results), sep="\n")
    if options.json:
        text = json.dumps(record_of(results, options.quick), indent=1, ensure_ascii=False)
        options.json.write_text(text + "\n", encoding="utf-8")
    return 0 if all(mark.is_met for mark in marks(results)) else 1


if __name__ == "__main__":
    sys.exit(main())
