"""`flashpath bench` with a learner's function: exit codes, clean output, and where records go."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from flashpath.cli import app
from flashpath.cli.sizes import parse_size
from flashpath.errors import FlashpathError
from flashpath.kernels import ladder
from flashpath.messages import Message

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
    assert "vectorized: readable" not in done.stdout  # of what did not run there is nothing to weigh up
    assert "reference: readable" in done.stdout


def test_nothing_that_could_be_timed_is_exit_code_1() -> None:
    words = ("--sizes", "2^40", "--device", "cpu", "--no-ceilings")
    done = CliRunner().invoke(app, ["bench", "vector_add", *words])
    assert done.exit_code == 1
    assert "could not be made" in done.stdout


def tune(*words: str) -> Any:
    return CliRunner().invoke(app, ["tune", *words, "--device", "cpu"])


def test_tune_without_a_clock_shows_counts_and_no_speed() -> None:
    done = tune("vector_add", "--size", "4096")
    assert done.exit_code == 0, done.output
    assert "vectorized(threads=128, width_bytes=4)" in done.stdout
    assert "× least cost" in done.stdout
    assert "× fastest" not in done.stdout
    assert "none of this is a time" in " ".join(done.stdout.split())


def test_tune_tries_each_rung_on_a_case_that_it_takes() -> None:
    done = tune("softmax", "--rung", "backward_simple", "--rung", "three_pass", "--json")
    assert done.exit_code == 0, done.output
    cases = json.loads(done.stdout)["cases"]
    assert [(each["case"].split()[0], each["tried"][0]["rung"]) for each in cases] == [
        ("backward", "backward_simple"),
        ("forward", "three_pass"),
    ]
    assert all(tried["seconds"] for each in cases for tried in each["tried"])


def test_tune_takes_a_case_or_a_size() -> None:
    done = tune("vector_add", "--case", "2^20 float32", "--size", "2^10")
    assert isinstance(done.exception, FlashpathError)
    assert "Both --size and --case" in str(done.exception)


def test_tune_stopped_lists_what_was_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*_: Any, **__: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr("flashpath.kernels.vector_add.host.triton_kernel", stopped)
    done = tune("vector_add", "--size", "4096")
    assert done.exit_code == 130
    assert "grid_stride(threads=128, blocks_per_sm=4)" in done.stdout


def test_a_case_given_twice_is_timed_once() -> None:
    done = bench("--case", "2^20 float32", "--json")
    assert len(done.stdout.splitlines()) == 2  # reference and torch


def test_the_output_is_looked_at_before_anything_is_imported_or_timed(mine: Path) -> None:
    for path in (mine.parent, mine.parent / "absent" / "results.jsonl"):
        done = bench("--with", f"{mine}:add", "--output", str(path))
        assert isinstance(done.exception, FlashpathError)
        assert "importing" not in done.output


@pytest.mark.skipif(not Path("/proc").exists(), reason="needs /proc, where no file can be made")
@pytest.mark.parametrize("words", [("--plot", "/proc/a.svg"), ("--output", "/proc/a.jsonl")], ids=str)
def test_what_cannot_be_written_is_told_before_anything_is_timed(mine: Path, words: tuple[str, ...]) -> None:
    done = bench("--with", f"{mine}:add", *words)
    assert isinstance(done.exception, FlashpathError)
    assert f"{words[1]} cannot be written" in str(done.exception)
    assert "importing" not in done.output


def test_sizes_that_are_none_say_why() -> None:
    for size, says in (("", "No size was given"), ("2^70", "the largest is 2^40")):
        done = CliRunner().invoke(app, ["bench", "vector_add", "--sizes", size])
        assert isinstance(done.exception, FlashpathError)
        assert says in str(done.exception)
        assert "flashpath.bench.Case" not in str(done.exception)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full, a disk without space")
def test_a_full_disk_is_said_plainly() -> None:
    done = bench("--output", "/dev/full")
    assert isinstance(done.exception, FlashpathError)
    assert "could not be written to /dev/full" in str(done.exception)


def test_a_case_that_is_none_shows_the_nearest_and_how_to_list_all() -> None:
    def told(case: str) -> list[str]:
        with pytest.raises(FlashpathError) as error:
            CliRunner().invoke(app, ["bench", "attention", "--case", case], catch_exceptions=False)
        return [line.strip() for line in str(error.value).splitlines()]

    assert told("foo")[1] == "→ Its first cases are"
    near = told("backward 16384 causal")
    assert near[1] == "→ The nearest are"
    assert near[2] == "backward 1 × 16384 × 32 × 64 causal bfloat16"
    for lines in (told("foo"), near, told("forward 4 × 4096 × 16 × 128 casual")):
        assert len(lines) <= 8
        assert max(map(len, lines)) < 80
        assert lines[-1] == "flashpath bench attention --list shows all 48."
    assert told("forward 4 × 4096 × 16 × 128 casual bfloat16")[2].startswith("forward 4 × 4096 × 16 × 128")


def test_cases_are_listed() -> None:
    listed = CliRunner().invoke(app, ["bench", "attention", "--list"])
    names = [case.name for case in ladder("attention").cases()]
    assert (listed.exit_code, listed.stdout.splitlines()) == (0, names)
    as_json = CliRunner().invoke(app, ["bench", "attention", "--list", "--json"])
    assert json.loads(as_json.stdout) == names


@pytest.mark.parametrize(("name", "count"), [("attention", "four"), ("attention_decode", "five")])
def test_sizes_of_attention(name: str, count: str) -> None:
    found = ladder(name)
    sizes_help = Message("cli.sizes").text("en")
    assert f"{name} has {count}:" in sizes_help or f"{name} {count}:" in sizes_help
    example = re.search(rf"{count}: [^(]*\(([\dx]+)\)", sizes_help)
    assert example is not None
    assert len(parse_size(found, example[1])) == len(found.dimensions)
    with pytest.raises(FlashpathError, match=" x ".join(found.dimensions)):
        parse_size(found, "4096")  # which is no square
    assert parse_size(ladder("matmul"), "64") == (64, 64, 64)
