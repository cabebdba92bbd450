"""A whole run as one document: every record comes back, and what changes in the file is what was measured."""

from __future__ import annotations

import difflib
import json
from dataclasses import replace
from pathlib import Path

import pytest

from flashpath import settings
from flashpath.bench import stored_run
from flashpath.bench.environment import Environment
from flashpath.bench.record import Record, Time
from flashpath.bench.record_files import append, load, load_runs, require_appendable, write_run
from flashpath.errors import FlashpathError
from flashpath.kernels.rung import Score

HERE, THERE = Environment("cuda", gpu="H200", versions={"torch": "2.11"}), Environment("cpu", cpu="x86")
FAST = Record(
    implementation="tiled",
    case="4096³",
    environment=HERE,
    timestamp="2026-01-01T00:00:00+00:00",
    parameters={"m": 4096, "dtype": "bf16"},
    ladder="matmul",
    language="cuda",
    time=Time(1e-3, 0.9e-3, 1.1e-3, "events, cold L2", 30),
    gb_per_s=1.5,
    peak_memory_bytes=0,
    ceiling="bf16 GEMM",
    lines_of_code=120,
    portability=["sm_80", "sm_90a"],
    readability=Score(4, "one idea"),
)
SKIPPED = replace(FAST, implementation="other", is_peer=True, time=None, error="needs sm_100", skipped=True)
ALONE = Record("broken", "line\u2028separator and\nnewline", THERE, "now", {}, error="wrong result")

RUNS = {
    "none": [],
    "one": [FAST],
    "of a case": [FAST, SKIPPED],
    "without a ladder": [ALONE, FAST, ALONE],
    "case after case and back": [FAST, replace(FAST, case="64³", parameters={"m": 64}), FAST],
    "measured twice": [FAST, replace(FAST, timestamp="later", environment=THERE), SKIPPED],
    "an implementation that changed": [FAST, replace(FAST, case="64³", lines_of_code=99), FAST],
    "a ladder in two places": [FAST, replace(FAST, ladder="sort"), SKIPPED],
    "names that are no names": [replace(FAST, implementation='"}\n', case="{")],
}


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
def test_every_record_comes_back_in_its_place(tmp_path: Path, run: list[Record]) -> None:
    path = tmp_path / "gpu.json"
    write_run(path, run)
    json.loads(path.read_text(encoding="utf-8"))
    assert load(path) == run
    assert [each.to_json() for each in load(path)] == [each.to_json() for each in run]


def test_the_records_of_this_package_come_back_too(tmp_path: Path) -> None:
    kept = load_runs(settings.content_dir("benchmarks/results"))
    assert len(kept) > 1000
    write_run(tmp_path / "gpu.json", kept)
    assert load(tmp_path / "gpu.json") == kept
    lines = tmp_path / "gpu.jsonl"
    append(lines, kept)
    assert load(lines) == kept
    assert (tmp_path / "gpu.json").stat().st_size < lines.stat().st_size / 3


def test_nothing_is_said_twice() -> None:
    text = stored_run.write([FAST, SKIPPED, replace(FAST, case="64³")])
    assert text.count('"H200"') == text.count("one idea") // 2 == 1
    assert text.count("4096³") == 1


def test_a_ladder_that_is_measured_anew_changes_no_line_of_another() -> None:
    others = [FAST, SKIPPED], [replace(FAST, ladder="sort"), replace(FAST, ladder="sort", case="64³")]
    scan = replace(FAST, ladder="scan", environment=THERE)
    before = stored_run.write([scan, *others[0], *others[1]])
    after = stored_run.write([*others[0], *others[1], replace(scan, timestamp="later", gb_per_s=2.0)])
    gone = [each for each in difflib.ndiff(before.split("\n"), after.split("\n")) if each.startswith("- ")]
    assert not any("64³" in each or "needs sm_100" in each for each in gone)


def test_a_whole_run_takes_the_place_of_the_one_before_and_nothing_is_added_to_it(tmp_path: Path) -> None:
    path = tmp_path / "gpu.json"
    write_run(path, [FAST])
    write_run(path, [ALONE, FAST])
    (tmp_path / "gpu-launch-cost.json").write_text("{}", encoding="utf-8")
    assert load(path) == load_runs(tmp_path) == [ALONE, FAST]
    with pytest.raises(FlashpathError, match="no record can be added"):
        require_appendable(path)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (
            '"median": 0.001',
            '"median": "x"',
            "'tiled' in the case '4096³' of 'matmul': time.median",
        ),
        ('"ladders": [', '"ladders": [}', "line 5"),
        ('"environments"', '"machines"', "it lacks 'environments'"),
        ('"implementation": "tiled"', '"implementation": "absent"', "it lacks 'absent'"),
        ('"gb_per_s"', '"surprise"', "unknown field 'surprise'"),
    ],
)
def test_what_is_wrong_in_a_document_is_named(tmp_path: Path, old: str, new: str, says: str) -> None:
    path = tmp_path / "gpu.json"
    text = stored_run.write([FAST])
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(FlashpathError, match=f"is no whole run of a benchmark: .*{says}"):
        load(path)
