"""How long a small program from the cache takes to start, and what a launch costs it, on the virtual GPU.

    python benchmarks/program_start.py [--json FILE] [--rounds N]

An empty program is started with `flashpath run`, from the cache, beside the same source compiled for a GPU
and started by itself; a Python that does nothing is timed as well, as what no command written in Python can
undercut. The starts are interleaved. The second program launches an empty kernel 10,000 times and says itself
how long that took.

The marks: a cached program starts within 0.4 s; 10,000 launches take less than 1 s.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from flashpath.bench import read_environment
from flashpath.jit import KernelCache, programs

EMPTY = "int main() { return 0; }\n"
LAUNCHES = """#include <chrono>
#include <cstdio>
__global__ void nothing() {}
int main() {
  nothing<<<1, 32>>>();
  cudaDeviceSynchronize();
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 10000; ++i) nothing<<<1, 32>>>();
  cudaDeviceSynchronize();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  std::printf("%.9f\\n", took.count());
}
"""
RUN = "flashpath run, from the cache"
ALONE = "the same with NVIDIA's runtime, alone"
PYTHON = "a Python that does nothing"
LOOP = "10,000 launches of an empty kernel"
MOST = {RUN: 0.4, LOOP: 1.0}


def seconds(command: Sequence[str], variables: Mapping[str, str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, check=True, env=variables, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def measure(folder: Path, rounds: int) -> dict[str, float]:
    """The median of each, in seconds."""
    empty, launches = folder / "empty.cu", folder / "launches.cu"
    empty.write_text(EMPTY)
    launches.write_text(LAUNCHES)
    for_gpu = programs.make_recipe([empty], programs.Target("sm_80", None))
    alone = programs.build(for_gpu, KernelCache(folder / "alone")).path
    # As in an installation: Python keeps its compiled modules.
    variables = {**os.environ, "FLASHPATH_CACHE_DIR": str(folder / "cache"), "FLASHPATH_DEVICE": "virtual"}
    variables |= {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(folder / "modules")}
    run = [sys.executable, "-m", "flashpath.cli", "run", "--quiet"]
    starts = {
        RUN: [*run, str(empty)],
        ALONE: [str(alone)],
        PYTHON: [sys.executable, "-c", "pass"],
    }
    for command in (*starts.values(), [*run, str(launches)]):
        seconds(command, variables)  # fills the caches
    samples: dict[str, list[float]] = {name: [] for name in (*starts, LOOP)}
    for _ in range(rounds):
        for name, command in starts.items():
            samples[name].append(seconds(command, variables))
        said = subprocess.run(
            [*run, str(launches)], check=True, env=variables, stdout=subprocess.PIPE, text=True
        )
        samples[LOOP].append(float(said.stdout))
    return {name: statistics.median(times) for name, times in samples.items()}


def record_of(medians: Mapping[str, float]) -> dict[str, Any]:
    """What is written: the medians, and the machine and the commit they were measured with."""
    environment = read_environment("cpu")
    return {
        "cpu": environment.cpu,
        "seconds": dict(medians),
        "marks": MOST,
        "ratio": medians[RUN] / medians[ALONE],
        "commit": environment.commit,
        "dirty": environment.dirty,
    }


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--json", type=Path, help="also write the medians here")
    parser.add_argument("--rounds", type=int, default=20)
    options = parser.parse_args(words)
    with tempfile.TemporaryDirectory() as folder:
        medians = measure(Path(folder), options.rounds)
    for name, median in medians.items():
        mark = f"   (mark: at most {MOST[name] * 1e3:.0f})" if name in MOST else ""
        print(f"{name:<38} {median * 1e3:8.1f} ms{mark}")
    ratio = medians[RUN] / medians[ALONE]
    print(f"\n{RUN}: {ratio:.0f} × the time of the program alone.")
    if options.json:
        text = json.dumps(record_of(medians), indent=1, ensure_ascii=False)
        options.json.write_text(text + "\n", encoding="utf-8")
    return int(any(medians[name] > most for name, most in MOST.items()))


if __name__ == "__main__":
    sys.exit(main())
