"""A thousand mutated modules, and that the program which runs them would notice."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from multiprocessing.connection import Connection
from pathlib import Path

import fuzz_ptx
import pytest
from mutations import mutant
from seeds import make_seeds

FOLDER = Path(__file__).parent


def test_a_thousand_mutated_modules(tmp_path: Path) -> None:
    """None crashes, hangs, or ends in an error that is not worded for people."""
    done = subprocess.run(
        [sys.executable, str(FOLDER / "fuzz_ptx.py"), "--modules=1000", f"--save={tmp_path}"],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("1,000 modules: ")
    assert not list(tmp_path.iterdir())


def test_mutants_are_the_same_every_time_and_many_of_them_run() -> None:
    seeds = make_seeds()
    assert len({seed.kernel for seed in seeds}) > 15
    assert mutant(seeds, 7) == mutant(make_seeds(), 7)
    outcomes = [fuzz_ptx.run(mutant(seeds, number)) for number in range(100)]
    assert outcomes.count("ran") > 10
    assert len(set(outcomes)) >= 4


def bad_work(seeds_file: str, first: int, step: int, end: int, report: Connection) -> None:
    """As the real one, with modules that kill, hang and throw."""
    for number in range(first, end, step):
        report.send((number, "", ""))
        if number == 3:
            os.abort()
        if number == 5:
            time.sleep(600)
        report.send((number, "escaped", "ValueError") if number == 7 else (number, "ran", ""))


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_dies_hangs_or_escapes_is_told_and_the_others_go_on(jobs: int) -> None:
    fuzzer = fuzz_ptx.Fuzzer("", 0, 10, jobs, patience=2, work=bad_work)
    fuzzer.watch()
    assert fuzzer.tally.outcomes == {"died": 1, "hung": 1, "escaped": 1, "ran": 7}
    assert set(fuzzer.tally.troubles) == {3, 5, 7}
    assert "code -6" in fuzzer.tally.troubles[3]
