"""How long `flashpath grade` takes from a cold start to the verdict: CUDA, Triton, whole programs.

    python benchmarks/grading.py [--json FILE] [--rounds N] [--right-only] [--exercise first-kernel/saxpy …]
    python benchmarks/grading.py --document docs/learning.md [--check]

The command is started anew for every answer, with an empty kernel cache and an empty home, so that everything
is compiled: what a learner waits for after a change. The exercise's own solution is graded --rounds times
(the median counts), the skeleton and every mutant once: wrong answers take longer, as the grader also looks
for the mistake. Beside it stands the time of a second start, with the caches that the first has filled.
Without --exercise all kernels and whole programs of the course are graded.

The marks, on two cores: a CUDA exercise answers within 3 s, a Triton one within 6 s, a program within 4 s,
right or wrong. The exit code is 1 where one is missed. --document makes the table of a document from the
record in benchmarks/results; with --check nothing is written, and the exit code is 1 where it is another.
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
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from flashpath import settings
from flashpath.bench import read_environment
from flashpath.course.content import Exercise, load_course
from flashpath.documents import language_of, write_section

RECORD = Path(__file__).parent / "results" / "two-cores-grading.json"
SECTION = "seconds of a grade"
MARKS = {"cuda": 3.0, "triton": 6.0, "program": 4.0}
LANGUAGES = {"cuda": "CUDA C++", "triton": "Triton", "program": "whole programs"}
CHINESE = {"program": "完整程序"}
KINDS = ("kernel", "debug", "program")


@dataclass(frozen=True)
class Timed:
    """One exercise: seconds of the whole command."""

    exercise: str
    language: str
    cases: int
    cold_seconds: float
    warm_seconds: float
    wrong_answers: int
    slowest_wrong: str | None
    slowest_wrong_seconds: float
    mark_seconds: float

    @property
    def holds(self) -> bool:
        return max(self.cold_seconds, self.slowest_wrong_seconds) < self.mark_seconds


def main(arguments: Sequence[str]) -> int:
    what, _, more = (__doc__ or "").partition("\n")
    parser = argparse.ArgumentParser(
        description=what, epilog=more, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path, help="where the figures go, with the machine they are from")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--right-only", action="store_true", help="leave the wrong answers out")
    parser.add_argument("--exercise", nargs="*", default=[], help="such as first-kernel/saxpy")
    parser.add_argument("--document", type=Path, help="make the table of this document from the record")
    parser.add_argument("--check", action="store_true", help="only say whether the document is up to date")
    options = parser.parse_args(arguments)
    if options.document is not None:
        return write_document(options.document, options.json or RECORD, options.check)
    timed: list[Timed] = []
    print(
        f"{'exercise':36} {'language':8} {'cases':>5} {'cold s':>7} {'warm s':>7} "
        f"{'wrong s':>8} {'mark s':>7}"
    )
    for exercise in _exercises(options.exercise):
        each = _time(exercise, options.rounds, not options.right_only)
        timed.append(each)
        print(
            f"{each.exercise:36} {each.language:8} {each.cases:5} {each.cold_seconds:7.2f} "
            f"{each.warm_seconds:7.2f} {each.slowest_wrong_seconds:8.2f} "
            f"{each.mark_seconds:7.1f}{'' if each.holds else f'  MISSED ({each.slowest_wrong})'}",
            flush=True,
        )
    if options.json:
        environment = asdict(read_environment("virtual"))
        cores = len(os.sched_getaffinity(0))
        record = {"environment": environment, "cores": cores, "grading": [asdict(each) for each in timed]}
        options.json.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    return int(not all(each.holds for each in timed))


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


# ---- Timing ----------------------------------------------------------------------------------------------


def _time(exercise: Exercise, rounds: int, wrong_too: bool) -> Timed:
    cold: list[float] = []
    warm: list[float] = []
    cases = 0
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            seconds, verdict = _grade(exercise, exercise.solution_text(), Path(folder))
            if not verdict["passed"]:
                sys.exit(f"{exercise.id}: its own solution does not pass.\n{verdict}")
            cases = int(verdict["cases"])
            cold.append(seconds)
            warm.append(_grade(exercise, exercise.solution_text(), Path(folder))[0])
    wrong = dict(_wrong_answers(exercise)) if wrong_too else {}
    slowest = max(wrong, key=lambda name: wrong[name], default=None)
    language = "program" if exercise.program is not None else exercise.language or "cuda"
    cold_seconds, warm_seconds = map(statistics.median, (cold, warm))
    return Timed(
        exercise.id,
        language,
        cases,
        cold_seconds,
        warm_seconds,
        len(wrong),
        slowest,
        wrong[slowest] if slowest else 0.0,
        MARKS[language],
    )


def _wrong_answers(exercise: Exercise) -> Iterator[tuple[str, float]]:
    """The seconds of each, by its name."""
    sources: dict[str, str] = {}
    if exercise.skeleton is not None:
        sources["the skeleton"] = exercise.skeleton.read_text(encoding="utf-8")
    sources |= {mutant.name: mutant.source for mutant in exercise.mutants}
    for name, source in sources.items():
        with tempfile.TemporaryDirectory() as folder:
            seconds, verdict = _grade(exercise, source, Path(folder))
            if verdict["passed"]:
                sys.exit(f"{exercise.id}: {name} passes.")
            yield name, seconds


def _grade(exercise: Exercise, source: str, folder: Path) -> tuple[float, dict[str, Any]]:
    """Seconds of the whole command, and its verdict."""
    assert exercise.solution is not None
    answer = folder / exercise.solution.name
    answer.write_text(source, encoding="utf-8")
    command = [
        *(sys.executable, "-m", "flashpath.cli", "grade", exercise.id),
        *("--file", str(answer), "--json"),
    ]
    environment = {
        **os.environ,
        settings.CACHE_DIR.name: str(folder / "cache"),
        settings.HOME.name: str(folder / "home"),
    }
    started = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=folder, check=False)
    seconds = time.perf_counter() - started
    try:
        return seconds, json.loads(done.stdout)
    except ValueError:
        sys.exit(f"{exercise.id} was not graded.\n{done.stdout}{done.stderr}")


# ---- The document ----------------------------------------------------------------------------------------


def write_document(document: Path, json_file: Path, check: bool) -> int:
    def made() -> str:
        return section(json.loads(json_file.read_text(encoding="utf-8")), language_of(document))

    return write_section(document, SECTION, made, check=check)


def section(record: dict[str, Any], lang: str = "en") -> str:
    cores, cpu = record["cores"], record["environment"]["cpu"]
    head, row = {
        "en": (
            f"| seconds on {cores} cores of {cpu} | exercises | right answers | wrong answers | mark |",
            "| {} | {} | {:.1f} to {:.1f} | at most {:.1f} of {} answers | under {:g} |",
        ),
        "zh": (
            f"| 在 {cpu} 的 {cores} 个核上，秒 | 练习 | 正确答案 | 错误答案 | 要求 |",
            "| {} | {} | {:.1f} 到 {:.1f} | 最多 {:.1f}，共 {} 份 | {:g} 以内 |",
        ),
    }[lang]
    lines = [head, "|---|---|---|---|---|"]
    for language, english in LANGUAGES.items():
        rows = [each for each in record["grading"] if each["language"] == language]
        if not rows:
            continue
        right = [each["cold_seconds"] for each in rows]
        wrong = max(rows, key=lambda each: each["slowest_wrong_seconds"])
        answers = sum(each["wrong_answers"] for each in rows)
        slowest = wrong["slowest_wrong_seconds"]
        name = CHINESE.get(language, english) if lang == "zh" else english
        lines.append(row.format(name, len(rows), min(right), max(right), slowest, answers, MARKS[language]))
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
