"""Throws mutated PTX at the virtual GPU: each module must run to its end, fault, or be refused in words.

    python tests/vgpu/fuzz/fuzz_ptx.py                      # 100,000 modules, some twenty minutes
    python tests/vgpu/fuzz/fuzz_ptx.py --modules 1000 --first 5000 --jobs 2
    python tests/vgpu/fuzz/fuzz_ptx.py --reproduce 5123     # one of them, here, and its text on the screen
    python tests/vgpu/fuzz/fuzz_ptx.py --engine build/checked/src/flashpath/vgpu/engine/_engine*.so

An engine with the compiler's sanitizers is built beside the usual one, and never installed:

    cmake -S . -B build/checked -G Ninja -DCMAKE_BUILD_TYPE=Release -DFLASHPATH_SANITIZERS=ON \\
      -DFLASHPATH_LEVELS=own -DPython_EXECUTABLE=$(which python)
    ninja -C build/checked _engine

Modules run in processes of their own. One that dies, hangs for longer than --patience seconds, or lets any
error out that is not flashpath's own is written to --save with its number; the others go on. The exit code is
1 if there was one.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import io
import math
import multiprocessing
import os
import pickle
import resource
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

import flashpath.vgpu
from flashpath.gpus.shape import Shape
from flashpath.vgpu.launch import Launch, Packed

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[3]))
from mutations import Mutant, Seed, mutant
from seeds import make_seeds

from flashpath.errors import FlashpathError
from flashpath.vgpu.device import HostArray, VirtualModule
from flashpath.vgpu.options import Options
from tests.harness.ptx_text import Parameter, summarize

BUDGET = 20_000  # warp instructions: a launch of milliseconds
MEMORY_LIMIT = 8 << 30  # bytes a process may ask for: a module may declare much
GRID, BLOCK, SHARED = (2, 1, 1), (64, 1, 1), 1024
_CHECKED = "FLASHPATH_FUZZED_ENGINE"  # set for this program's own processes: the engine under sanitizers


# ---- One module ----------------------------------------------------------------------------------------


def _arguments(parameters: Sequence[Parameter]) -> tuple[bytes, list[HostArray], list[Any]]:
    """An array for every parameter that could point to one, and small numbers for all others."""
    packed, arrays, keep = bytearray(), list[HostArray](), list[Any]()
    sizes = {"8": 1, "16": 2, "32": 4, "64": 8}
    for parameter in parameters:
        size = next((sizes[bits] for bits in sizes if parameter.type.endswith(bits)), 4)
        count = math.prod(parameter.dimensions)
        if not 0 < size * count <= 4096:
            raise FlashpathError("A parameter that no launch could pass.")
        packed += bytes(-len(packed) % size)
        if size == 8 and count == 1:
            array = np.arange(1024, dtype=np.int32)
            first, last = array.ctypes.data, array.ctypes.data + array.nbytes
            keep.append(array)
            arrays.append(HostArray(len(packed), first, first, last, first, last, writable=True))
        packed += (64).to_bytes(size, "little") * count
    return bytes(packed), arrays, keep


def run(module: Mutant) -> str:
    """Run it as it asks to be run; what became of it."""
    try:
        kernel = VirtualModule(module.ptx).kernel(module.kernel)
        (function,) = (each for each in summarize(module.ptx).functions if each.name == module.kernel)
        packed, arrays, _keep = _arguments(function.parameters)
        options = Options(
            exact=module.exact,
            count=module.count,
            sanitize=module.sanitize,
            seed=module.schedule,
            budget=BUDGET,
        )
        _ = Launch(kernel, Shape(GRID, BLOCK, SHARED), Packed(packed, arrays)).run(options).findings
    except FlashpathError as error:
        return type(error).__name__
    return "ran"


# ---- A process that runs many --------------------------------------------------------------------------


def use_engine(file: str) -> None:
    """Loads the engine from a file of its own, before anything else does."""
    spec = importlib.util.spec_from_file_location("flashpath.vgpu._engine", file)
    assert spec is not None
    assert spec.loader is not None
    engine = importlib.util.module_from_spec(spec)
    sys.modules["flashpath.vgpu._engine"] = engine
    setattr(flashpath.vgpu, "_engine", engine)  # noqa: B010 - it is no attribute that a checker knows
    spec.loader.exec_module(engine)


def under_sanitizers(engine: Path) -> None:
    """Starts this program again with the sanitizers' library, which has to be loaded before all others."""
    if _CHECKED in os.environ:
        return
    # C++'s own library comes with it: what is thrown is looked for there.
    names = [f"-print-file-name={name}" for name in ("libasan.so", "libstdc++.so")]
    files = [
        subprocess.run(["g++", name], capture_output=True, text=True, check=True).stdout.strip()
        for name in names
    ]
    options = "detect_leaks=0:allocator_may_return_null=1:max_allocation_size_mb=4096:handle_segv=1"
    os.environ |= {
        "LD_PRELOAD": ":".join(files),
        "ASAN_OPTIONS": options,
        _CHECKED: str(engine.resolve()),
    }
    os.environ["UBSAN_OPTIONS"] = "print_stacktrace=1"
    os.execv(sys.executable, [sys.executable, *sys.argv])


def _work(seeds_file: str, first: int, step: int, end: int, report: Connection) -> None:
    if _CHECKED in os.environ:  # whose shadow memory needs all addresses
        use_engine(os.environ[_CHECKED])
    else:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    seeds: list[Seed] = pickle.loads(Path(seeds_file).read_bytes())
    for number in range(first, end, step):
        report.send((number, "", ""))
        try:
            with contextlib.redirect_stdout(io.StringIO()):  # what kernels print
                outcome, trouble = run(mutant(seeds, number)), ""
        except BaseException:  # anything else than our own errors is what is looked for
            outcome, trouble = "escaped", traceback.format_exc()
        report.send((number, outcome, trouble))


Work = Callable[[str, int, int, int, Connection], None]


@dataclass
class Lane:
    """A process and the module that it is at."""

    process: Any
    report: Connection
    next_number: int
    at: int = -1
    since: float = field(default_factory=time.monotonic)


@dataclass
class Tally:
    """What became of the modules so far."""

    outcomes: dict[str, int] = field(default_factory=dict[str, int])
    troubles: dict[int, str] = field(default_factory=dict[int, str])

    def add(self, outcome: str) -> None:
        self.outcomes[outcome] = self.outcomes.get(outcome, 0) + 1

    @property
    def done(self) -> int:
        return sum(self.outcomes.values())

    def __str__(self) -> str:
        parts = (f"{count:,} {outcome}" for outcome, count in sorted(self.outcomes.items()))
        return f"{self.done:,} modules: {', '.join(parts)}"


class Fuzzer:
    """Keeps processes at work, and goes on after those that die or hang."""

    def __init__(
        self, seeds_file: str, first: int, modules: int, jobs: int, patience: float, work: Work = _work
    ) -> None:
        self._seeds_file, self._end, self._jobs, self._patience = seeds_file, first + modules, jobs, patience
        self._work = work
        # Spawned, not forked: a process that died must not have shared anything with this one.
        self._context = multiprocessing.get_context("spawn")
        self.tally = Tally()
        self.lanes = [self._start(first + k) for k in range(min(jobs, modules))]

    def _start(self, number: int) -> Lane:
        report, sender = self._context.Pipe(duplex=False)
        arguments = (self._seeds_file, number, self._jobs, self._end, sender)
        process = self._context.Process(target=self._work, args=arguments, daemon=True)
        process.start()
        sender.close()
        return Lane(process, report, number)

    def watch(self) -> None:
        """Until all modules are done; progress is shown every few seconds."""
        shown = time.monotonic()
        while self.lanes:
            for lane in list(self.lanes):
                self._look_at(lane)
            if time.monotonic() - shown > 5:
                shown = time.monotonic()
                print(self.tally, file=sys.stderr, flush=True)
            time.sleep(0.01)

    def _look_at(self, lane: Lane) -> None:
        try:
            while lane.report.poll():
                number, outcome, trouble = lane.report.recv()
                lane.since = time.monotonic()
                if not outcome:
                    lane.at = number
                    continue
                lane.at, lane.next_number = -1, number + self._jobs
                self.tally.add(outcome)
                if trouble:
                    self.tally.troubles[number] = trouble
        except EOFError:
            self._end_of(lane)
            return
        if time.monotonic() - lane.since > self._patience and lane.at >= 0:
            lane.process.kill()
            self._lose(lane, "hung", f"it ran for more than {self._patience:.0f} seconds")

    def _end_of(self, lane: Lane) -> None:
        lane.process.join()
        if lane.at >= 0:
            self._lose(lane, "died", f"the process ended with code {lane.process.exitcode}")
        elif lane.next_number < self._end:
            raise RuntimeError(f"a process ended with code {lane.process.exitcode} between two modules")
        else:
            self.lanes.remove(lane)

    def _lose(self, lane: Lane, outcome: str, trouble: str) -> None:
        lane.process.join()
        self.lanes.remove(lane)
        self.tally.add(outcome)
        self.tally.troubles[lane.at] = trouble
        if lane.at + self._jobs < self._end:
            self.lanes.append(self._start(lane.at + self._jobs))


# ---- The program ---------------------------------------------------------------------------------------


def reproduce(number: int) -> int:
    module = mutant(make_seeds(), number)
    print(module.ptx)
    how = f"exact={module.exact} count={module.count} sanitize={module.sanitize} seed={module.schedule}"
    print(f"// module {number}, from {module.origin}; {how}", flush=True)
    print(f"// {run(module)}")
    return 0


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--modules", type=int, default=100_000, help="how many (100000)")
    parser.add_argument("--first", type=int, default=0, help="the number of the first: others, other modules")
    parser.add_argument("--jobs", type=int, default=1, help="processes side by side (1)")
    parser.add_argument("--patience", type=float, default=60, help="seconds until one counts as hung (60)")
    parser.add_argument("--save", type=Path, default=Path("fuzz-findings"), help="where troubles are written")
    parser.add_argument("--reproduce", type=int, metavar="NUMBER", help="run this one, here, and show it")
    parser.add_argument("--engine", type=Path, help="run this engine, built with the compiler's sanitizers")
    options = parser.parse_args(arguments)
    if options.engine is not None:
        under_sanitizers(options.engine)
        use_engine(os.environ[_CHECKED])
    if options.reproduce is not None:
        return reproduce(options.reproduce)
    seeds = make_seeds()
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "seeds.pickle"
        file.write_bytes(pickle.dumps(seeds))
        fuzzer = Fuzzer(str(file), options.first, options.modules, options.jobs, options.patience)
        try:
            fuzzer.watch()
        finally:
            for lane in fuzzer.lanes:
                lane.process.kill()
    print(fuzzer.tally)
    print(f"{fuzzer.tally.done / (time.monotonic() - began):.0f} modules a second")
    for number, trouble in sorted(fuzzer.tally.troubles.items()):
        options.save.mkdir(parents=True, exist_ok=True)
        (options.save / f"{number}.ptx").write_text(mutant(seeds, number).ptx)
        print(f"module {number} ({options.save / f'{number}.ptx'}): {trouble}")
    return 1 if fuzzer.tally.troubles else 0


if __name__ == "__main__":
    sys.exit(main())
