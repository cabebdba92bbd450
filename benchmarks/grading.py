"""How long `flashpath grade` takes from a cold start to the verdict, for CUDA and for Triton.

    python benchmarks/grading.py [--json FILE] [--rounds N] [--exercise first-kernel/saxpy …]

Every round starts the command anew on the exercise's own solution, with an empty kernel cache and an empty
home, so that everything is compiled: what a learner waits for after a change. Beside it the time of a second
start is given, with the caches that the first has filled, and the processor time of the first, its children's
too: where that is much less than the time itself, other programs had the cores. Without --exercise all kernel
exercises of the course are graded.

The marks, on two cores: a CUDA exercise answers within 3 s, a Triton one within 6 s.
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
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from flashpath import settings
from flashpath.bench import read_environment
from flashpath.course.content import Exercise, load_course

MARKS = {"cuda": 3.0, "triton": 6.0}
KINDS = ("kernel", "debug")


@dataclass(frozen=True)
class Timed:
    """One exercise: seconds of the whole command, medians of all rounds."""

    exercise: str
    language: str
    cases: int
    cold_seconds: float
    warm_seconds: float
    cpu_seconds: float
    mark_seconds: float

    @property
    def holds(self) -> bool:
        return self.cold_seconds < self.mark_seconds


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path, help="where the figures go, with the machine they are from")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--exercise", nargs="*", default=[], help="such as first-kernel/saxpy")
    options = parser.parse_args()
    timed: list[Timed] = []
    print(
        f"{'exercise':40} {'language':8} {'cases':>5} {'cold s':>7} {'warm s':>7} {'cpu s':>7} {'mark s':>7}"
    )
    for exercise in _exercises(options.exercise):
        each = _time(exercise, options.rounds)
        timed.append(each)
        print(
            f"{each.exercise:40} {each.language:8} {each.cases:5} {each.cold_seconds:7.2f} "
            f"{each.warm_seconds:7.2f} {each.cpu_seconds:7.2f} {each.mark_seconds:7.1f}"
            f"{'' if each.holds else '  MISSED'}",
            flush=True,
        )
    for language in MARKS:
        slowest = max((each.cold_seconds for each in timed if each.language == language), default=None)
        if slowest is not None:
            print(f"{language}: the slowest takes {slowest:.2f} s; the mark is {MARKS[language]:g} s.")
    if options.json:
        record = {
            "environment": asdict(read_environment("virtual")),
            "grading": [asdict(each) for each in timed],
        }
        options.json.write_text(json.dumps(record, indent=1))
    sys.exit(0 if all(each.holds for each in timed) else 1)


def _exercises(named: Sequence[str]) -> list[Exercise]:
    course = load_course()
    if named:
        return [course.exercise(each) for each in named]
    every = [course.exercise(f"{unit.name}/{name}") for unit in course.units for name in unit.exercises]
    return [
        exercise
        for exercise in every
        if exercise.kind in KINDS and exercise.language in MARKS and exercise.solution is not None
    ]


def _time(exercise: Exercise, rounds: int) -> Timed:
    cold: list[float] = []
    warm: list[float] = []
    cpu: list[float] = []
    cases = 0
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            before = os.times()
            seconds, cases = _grade(exercise, Path(folder))
            after = os.times()
            cpu.append(
                after.children_user + after.children_system - before.children_user - before.children_system
            )
            cold.append(seconds)
            warm.append(_grade(exercise, Path(folder))[0])
    language = exercise.language or "cuda"
    cold_seconds, warm_seconds, cpu_seconds = map(statistics.median, (cold, warm, cpu))
    return Timed(exercise.id, language, cases, cold_seconds, warm_seconds, cpu_seconds, MARKS[language])


def _grade(exercise: Exercise, folder: Path) -> tuple[float, int]:
    """Seconds of the whole command, and how many cases it ran."""
    assert exercise.solution is not None
    command = [
        *(sys.executable, "-m", "flashpath.cli", "grade", exercise.id),
        *("--file", str(exercise.solution), "--json"),
    ]
    environment = {
        **os.environ,
        settings.CACHE_DIR.name: str(folder / "cache"),
        settings.HOME.name: str(folder / "home"),
    }
    started = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=folder, check=False)
    seconds = time.perf_counter() - started
    if done.returncode != 0:
        sys.exit(f"{exercise.id}: its own solution does not pass.\n{done.stdout}{done.stderr}")
    return seconds, int(json.loads(done.stdout)["cases"])


if __name__ == "__main__":
    main()
