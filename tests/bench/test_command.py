"""`flashpath bench` with a learner's function: exit codes, clean output, and where records go."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from flashpath.cli import app
from flashpath.errors import FlashpathError

MINE = """
import sys
print("importing")

def add(a, b):
    print("calling")
    return a + b

def leaves(a, b):
    sys.exit(0)

def breaks(a, b):
    raise RuntimeError("no luck")

def in_place(a, b):
    return a.add_(b)
"""
QUICK = (
    "--case",
    "2^20 float32",
    "--seconds",
    "0.01",
    "--device",
    "cpu",
    "--no-ceilings",
    "--rung",
    "reference",
)


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(MINE, encoding="utf-8")
    return path


def bench(*words: str) -> Any:
    return CliRunner().invoke(app, ["bench", "vector_add", *QUICK, *words])


def test_what_a_function_prints_stays_out_of_the_json(mine: Path) -> None:
    done = bench("--with", f"{mine}:add", "--json")
    assert done.exit_code == 0, done.output
    names = [json.loads(line)["implementation"] for line in done.stdout.splitlines()]
    assert names == ["reference", f"{mine}:add", "torch"]
    assert "importing" in done.stderr
    assert "calling" in done.stderr


@pytest.mark.parametrize(
    ("function", "says"),
    [("leaves", "SystemExit: 0"), ("breaks", "no luck"), ("in_place", "changes its inputs (argument 0)")],
)
def test_a_function_that_fails_is_exit_code_1(mine: Path, function: str, says: str) -> None:
    done = bench("--with", f"{mine}:{function}", "--json")
    assert done.exit_code == 1
    assert says in json.loads(done.stdout.splitlines()[1])["error"]


def test_a_rung_that_needs_a_gpu_is_skipped_and_no_failure() -> None:
    done = bench("--rung", "vectorized")
    assert done.exit_code == 0
    assert "skipped" in done.stdout
    assert "needs a GPU of sm_75 or newer" in done.stdout
    assert "failed" not in done.stdout


def test_a_case_given_twice_is_timed_once() -> None:
    done = bench("--case", "2^20 float32", "--json")
    assert len(done.stdout.splitlines()) == 2  # reference and torch


def test_the_output_is_looked_at_before_anything_is_imported_or_timed(mine: Path) -> None:
    for path in (mine.parent, mine.parent / "absent" / "results.jsonl"):
        done = bench("--with", f"{mine}:add", "--output", str(path))
        assert isinstance(done.exception, FlashpathError)
        assert "importing" not in done.output


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full, a disk without space")
def test_a_full_disk_is_said_plainly() -> None:
    done = bench("--output", "/dev/full")
    assert isinstance(done.exception, FlashpathError)
    assert "could not be written to /dev/full" in str(done.exception)
