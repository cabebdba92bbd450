"""Throws mutated PTX at the virtual GPU: each module must run to its end, fault, or be refused in words.

    python tests/vgpu/fuzz/fuzz_ptx.py                      # 1,000,000 modules, some twenty minutes
    python tests/vgpu/fuzz/fuzz_ptx.py --modules 1000 --from 5000 --jobs 2
    python tests/vgpu/fuzz/fuzz_ptx.py --record fuzz.json   # again: goes on where the record ends
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
import hashlib
import importlib.util
import io
import json
import multiprocessing
import os
import pickle
import resource
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import flashpath.vgpu

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[3]))
from mutations import mutant
from one_launch import run
from seeds import make_seeds
from words import Seed

PORTION = 20_000  # modules, after which processes start anew and the record is written
MEMORY_LIMIT = 8 << 30  # bytes a process may ask for: a module may declare much
ENGINE = Path(flashpath.vgpu.__file__).parent / "engine"
_CHECKED = "FLASHPATH_FUZZED_ENGINE"  # set for this program's own processes: the engine under sanitizers


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

    def take(self, other: Tally) -> None:
        """Adds what another one counted."""
        for outcome, count in other.outcomes.items():
            self.outcomes[outcome] = self.outcomes.get(outcome, 0) + count
        self.troubles |= other.troubles

    @property
    def launched(self) -> float:
        """Returns the share of the modules whose launch began: which neither parser nor lowering refused."""
        return sum(self.outcomes.get(outcome, 0) for outcome in ("ran", "KernelFault")) / max(1, self.done)


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

    def watch(self, before: Tally | None = None) -> Tally:
        """Returns when all modules are done; shows progress every few seconds, with what was done before."""
        shown = time.monotonic()
        before = before or Tally()
        while self.lanes:
            for lane in list(self.lanes):
                self._look_at(lane)
            if time.monotonic() - shown > 5:
                shown = time.monotonic()
                print(_sum(before, self.tally), file=sys.stderr, flush=True)
            time.sleep(0.02)
        return self.tally

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


def _sum(*tallies: Tally) -> Tally:
    total = Tally()
    for tally in tallies:
        total.take(tally)
    return total


# ---- What a long run keeps -----------------------------------------------------------------------------


@dataclass
class Record:
    """What became of the modules from `first` on, on one engine. A file keeps it, so that a run can be ended
    and go on."""

    engine: str
    """A digest of the sources that the engine was built of."""
    sanitizers: bool
    """Whether the engine was built with the compiler's sanitizers."""
    first: int
    seconds: float = 0.0
    tally: Tally = field(default_factory=Tally)

    @property
    def next(self) -> int:
        """Returns the number of the first module that was not run."""
        return self.first + self.tally.done

    def write(self, file: Path) -> None:
        """Writes it all at once: a run may be ended at any time."""
        data = {
            "engine": self.engine,
            "sanitizers": self.sanitizers,
            "first": self.first,
            "modules": self.tally.done,
            "launched": round(self.tally.launched, 4),
            "seconds": round(self.seconds),
            "outcomes": dict(sorted(self.tally.outcomes.items())),
            "troubles": {str(number): trouble for number, trouble in sorted(self.tally.troubles.items())},
        }
        part = file.with_suffix(".part")
        part.write_text(json.dumps(data, indent=1) + "\n")
        part.replace(file)

    def read(self, file: Path) -> None:
        """Takes over what a run of the same modules on the same engine has kept, if there is one."""
        if not file.exists():
            return
        data = json.loads(file.read_text())
        if (data["engine"], data["sanitizers"], data["first"]) != (self.engine, self.sanitizers, self.first):
            sys.exit(f"{file} is of other modules or another engine: name another file, or remove it")
        self.seconds = data["seconds"]
        troubles = {int(number): trouble for number, trouble in data["troubles"].items()}
        self.tally = Tally(data["outcomes"], troubles)


def digest_of_the_engine() -> str:
    """Returns a digest of the engine's sources, which says what was run."""
    files = sorted(each for each in ENGINE.rglob("*") if each.suffix in (".h", ".cpp"))
    texts = (f"{file.relative_to(ENGINE)}\n{file.read_text()}" for file in files)
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]


# ---- The program ---------------------------------------------------------------------------------------


def reproduce(number: int) -> int:
    module = mutant(make_seeds(), number)
    print(module.ptx)
    print(f"// module {number}, from {module.origin}", flush=True)
    print(f"// {run(module)}")
    return 0


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--modules", type=int, default=1_000_000, help="how many (1000000)")
    parser.add_argument(
        "--from", type=int, default=0, dest="first", help="the number of the first module (0)"
    )
    parser.add_argument("--record", type=Path, help="a file that keeps what became of them; it is continued")
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
    record = Record(digest_of_the_engine(), options.engine is not None, options.first)
    if options.record is not None:
        record.read(options.record)
    seeds = make_seeds()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "seeds.pickle"
        file.write_bytes(pickle.dumps(seeds))
        end = options.first + options.modules
        while record.next < end:
            began = time.monotonic()
            fuzzer = Fuzzer(
                str(file), record.next, min(PORTION, end - record.next), options.jobs, options.patience
            )
            try:
                portion = fuzzer.watch(record.tally)
            finally:
                for lane in fuzzer.lanes:
                    lane.process.kill()
            record.tally.take(portion)
            record.seconds += time.monotonic() - began
            if options.record is not None:
                record.write(options.record)
    tally = record.tally
    print(tally)
    print(f"{tally.launched:.0%} of them were launched; {tally.done / record.seconds:.0f} modules a second")
    for number, trouble in sorted(tally.troubles.items()):
        options.save.mkdir(parents=True, exist_ok=True)
        (options.save / f"{number}.ptx").write_text(mutant(seeds, number).ptx)
        print(f"module {number} ({options.save / f'{number}.ptx'}): {trouble}")
    return 1 if tally.troubles else 0


if __name__ == "__main__":
    sys.exit(main())
