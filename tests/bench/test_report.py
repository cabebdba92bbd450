"""The Markdown report, and the program that writes docs/results.md."""

from __future__ import annotations

import json
import runpy
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from flashpath.bench.environment import Environment
from flashpath.bench.record import Record, Time
from flashpath.bench.report import code, markdown
from flashpath.kernels.rung import Score

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
RECORD = Record(
    implementation="kernel[grid, block](…)",
    case="small",
    environment=Environment("cuda", gpu="H200"),
    timestamp="2026-01-01T00:00:00+00:00",
    parameters={},
    language="cuda|ptx",
    time=Time(1e-6, 1e-6, 1e-6, "events", 5),
    readability=Score(3, "needs alignment"),
    debugging=Score(4, "printf"),
)


def report_program(results: Path) -> dict[str, Any]:
    """report.py's names, made to read and write under another folder."""
    program = runpy.run_path(str(BENCHMARKS / "report.py"))
    names = program["main"].__globals__
    names["RESULTS"], names["DOCUMENT"] = results / "benchmarks" / "results", results / "results.md"
    return names


def test_names_are_code_and_pipes_are_escaped() -> None:
    text = markdown([RECORD, replace(RECORD, implementation="a|b", is_peer=True)])
    assert "| `kernel[grid, block](…)` | cuda\\|ptx |" in text
    assert "| `a\\|b` (peer) |" in text
    assert code("a`b") == "`` a`b ``"


def test_reasons_of_the_scores_are_told_once() -> None:
    text = markdown([RECORD, replace(RECORD, case="large")])
    assert (
        text.count("- `kernel[grid, block](…)`: readable 3 (needs alignment), debuggable 4 (printf)\n") == 1
    )


def test_skipped_in_the_report() -> None:
    text = markdown([replace(RECORD, time=None, error="needs a GPU", skipped=True)])
    assert "Skipped: `kernel[grid, block](…)`." in text
    assert "| median |" not in text


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.json", b"\xff", "not UTF-8"),
        ("a.json", b'{"time": {"median": "x"}}', "line 1"),
        ("a-launch-cost.json", b"{", "is no record of launch costs"),
        (
            "a-launch-cost.json",
            b'{"gpu": "H200", "microseconds": {"way": "x"}}',
            "is no record of launch costs",
        ),
    ],
)
def test_the_program_says_what_is_wrong_without_a_traceback(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    name: str,
    content: bytes,
    says: str,
) -> None:
    results = tmp_path / "benchmarks" / "results"
    results.mkdir(parents=True)
    (results / name).write_bytes(content)
    monkeypatch.setattr(sys, "argv", ["report.py"])
    assert report_program(tmp_path)["main"]() == 1
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert says in error
    assert not (tmp_path / "results.md").exists()


def test_launch_costs_are_recorded_with_their_commit_and_read_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = runpy.run_path(str(BENCHMARKS / "launch_cost.py"))
    environment = Environment("cuda", gpu="H200", versions={"torch": "2.11"}, commit="ab", dirty=False)
    record = program["record_of"]({"kernel[grid, block](…)": 6.96}, environment)
    assert (record["gpu"], record["torch"], record["commit"]) == ("H200", "2.11", "ab")
    results = tmp_path / "benchmarks" / "results"
    results.mkdir(parents=True)
    (results / "h200-launch-cost.json").write_text(json.dumps(record), encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["report.py"])
    assert report_program(tmp_path)["main"]() == 0
    assert "| `kernel[grid, block](…)` | 6.96 |" in (tmp_path / "results.md").read_text(encoding="utf-8")
