"""How many answers a second are graded in one process, as the tests of the course grade them.

    python benchmarks/grading_rate.py [--exercise first-kernel/saxpy …] [--json FILE]

Every exercise that is run is graded with its solution and all of its mutants, then with all answers of the
corpus (tests/course/corpus), for whose hints every mutant is looked at once. The kernel cache is empty when
it begins. What counts is processor time, of this process and of all that it starts: other work on the machine
changes it little, and two cores do twice as much.

The marks, in seconds of a processor for each answer: 0.1 for CUDA, 0.15 for Triton. The exit code is 1 where
one is missed. An answer in Python takes what its loops take, and a whole program what nvcc takes: they have
no marks.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from flashpath import settings
from flashpath.bench import read_environment
from flashpath.course.content import Exercise, load_course
from flashpath.course.grader import grade
from flashpath.course.sandbox import nursery
from tests.harness.corpus import ANSWERS

MARKS = {"cuda": 0.1, "triton": 0.15}
_TICKS = os.sysconf("SC_CLK_TCK")
_OF_PROCESSOR = slice(11, 15)  # in /proc/…/stat, behind the name: its own time, and its ended children's


@dataclass(frozen=True)
class Rate:
    """Answers of one kind, graded one after the other."""

    language: str
    kind: str
    answers: int
    processor_seconds: float  # of each answer, on average
    seconds: float  # of each, by the clock

    @property
    def holds(self) -> bool:
        return self.processor_seconds < MARKS.get(self.language, float("inf"))


def main(arguments: Sequence[str]) -> int:
    what, _, more = (__doc__ or "").partition("\n")
    parser = argparse.ArgumentParser(
        description=what, epilog=more, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--exercise", nargs="*", default=[], help="such as first-kernel/saxpy")
    parser.add_argument("--json", type=Path, help="where the figures go, with the machine they are from")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        os.environ[settings.CACHE_DIR.name] = folder
        rates = measure(_exercises(options.exercise), Path(folder))
    print(f"{'language':8} {'graded':16} {'answers':>7} {'CPU s each':>10} {'s each':>7} {'a second':>8}")
    for rate in rates:
        print(
            f"{rate.language:8} {rate.kind:16} {rate.answers:7} {rate.processor_seconds:10.3f} "
            f"{rate.seconds:7.3f} {1 / rate.seconds:8.1f}{'' if rate.holds else '  MISSED'}"
        )
    if options.json:
        record = {
            "environment": asdict(read_environment("virtual")),
            "rates": [asdict(each) for each in rates],
        }
        options.json.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    return int(not all(rate.holds for rate in rates))


def _exercises(named: Sequence[str]) -> list[Exercise]:
    course = load_course()
    names = named or [f"{unit.name}/{name}" for unit in course.units for name in unit.exercises]
    return [each for each in map(course.exercise, names) if each.solution is not None and each.mutants]


def _language(exercise: Exercise) -> str:
    return "program" if exercise.program is not None else exercise.language or ""


def measure(exercises: Sequence[Exercise], folder: Path) -> list[Rate]:
    kinds: dict[str, Callable[[Exercise], Iterable[str]]] = {
        "solutions": lambda exercise: [exercise.solution_text()],
        "mutants": lambda exercise: [mutant.source for mutant in exercise.mutants],
        "corpus answers": lambda exercise: [
            answer.text(exercise.solution_text()) for answer in ANSWERS if answer.exercise == exercise.id
        ],
    }
    languages = sorted(set(map(_language, exercises)))
    for language in languages:  # libraries are loaded by the first answer, once
        first = next(each for each in exercises if _language(each) == language)
        _rate(language, "solutions", [(first, first.solution_text())], folder)
    rates: list[Rate] = []
    for kind, of in kinds.items():
        for language in languages:
            chosen = [each for each in exercises if _language(each) == language]
            answers = [(each, text) for each in chosen for text in of(each)]
            rates += [_rate(language, kind, answers, folder)] if answers else []
    return rates


def _rate(language: str, kind: str, answers: Sequence[tuple[Exercise, str]], folder: Path) -> Rate:
    started, processor = time.perf_counter(), processor_seconds()
    for exercise, text in answers:
        assert exercise.solution is not None
        file = folder / exercise.solution.name
        file.write_text(text, encoding="utf-8")
        if grade(exercise, file, seed=1).passed != (kind == "solutions"):
            sys.exit(f"{exercise.id}: one of its {kind} is not graded as it should be.\n{text}")
    count = len(answers)
    spent, seconds = processor_seconds() - processor, time.perf_counter() - started
    return Rate(language, kind, count, spent / count, seconds / count)


def processor_seconds() -> float:
    """What this process, the nurseries and their children that have ended have taken so far."""
    total = time.process_time()
    for each in nursery.nurseries.values():
        fields = Path(f"/proc/{each.pid}/stat").read_text().rpartition(")")[2].split()
        total += sum(map(int, fields[_OF_PROCESSOR])) / _TICKS
    return total


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
