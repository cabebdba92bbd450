"""The Markdown report, and the program that writes docs/results.md and docs/results/."""

from __future__ import annotations

import json
import re
import runpy
import sys
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from flashpath.bench.environment import Environment
from flashpath.bench.record import Record, Time
from flashpath.bench.record_files import append, load, write_run
from flashpath.bench.report import code, markdown
from flashpath.kernels.attention.cases import HIDDEN, TOKENS
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
    assert "| `kernel[grid, block](…)` | 6.96 |" in (tmp_path / "results/launches.md").read_text(
        encoding="utf-8"
    )


def test_a_run_takes_the_place_of_the_ladders_it_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And of these whole: a rung that it did not measure is not shown beside what it did."""
    results = tmp_path / "benchmarks" / "results"
    results.mkdir(parents=True)
    old = [replace(RECORD, ladder=ladder, implementation=f"old {ladder}") for ladder in ("sort", "scan")]
    write_run(results / "h200.json", old)
    new = tmp_path / "h200.jsonl"
    append(new, [replace(RECORD, ladder="scan", implementation="new scan")])
    monkeypatch.setattr(sys, "argv", ["report.py", "--run", str(new)])
    assert report_program(tmp_path)["main"]() == 0
    found = [record.implementation for record in load(results / "h200.json")]
    assert found == ["old sort", "new scan"]


def test_what_is_said_of_attentions_problems_is_true_of_every_record() -> None:
    """Attention's page of results says how batch and heads follow from length and dimension."""
    kept = load(BENCHMARKS / "results" / "h200.json")
    measured = [each for each in kept if each.ladder == "attention"]
    assert measured
    for record in measured:
        batch, sequence, heads, dim = map(int, re.findall(r"(\d+)(?= ×|(?= \w+ bfloat16))", record.case))
        assert (sequence, dim) == (record.parameters["sequence"], record.parameters["dim"])
        assert (batch * sequence, heads * dim) == (TOKENS, HIDDEN)


def test_every_ladder_has_a_page_and_a_row_and_old_pages_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    results = tmp_path / "benchmarks" / "results"
    results.mkdir(parents=True)
    write_run(results / "h200.json", [replace(RECORD, ladder=ladder) for ladder in ("sort", "scan")])
    monkeypatch.setattr(sys, "argv", ["report.py"])
    assert report_program(tmp_path)["main"]() == 0
    summary = (tmp_path / "results.md").read_text(encoding="utf-8")
    for ladder in ("sort", "scan"):
        assert f"| [{ladder}](results/{ladder}.md) |" in summary
        page = (tmp_path / "results" / f"{ladder}.md").read_text(encoding="utf-8")
        assert page.startswith(f"# {ladder}\n")
        assert f"![{ladder}](../plots/{ladder}.svg)" in page
    assert "kernel[grid, block]" not in summary
    (tmp_path / "results" / "gone.md").write_text("", encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["report.py", "--check"])
    assert report_program(tmp_path)["main"]() == 1
    assert "docs/results/gone.md is out of date" in capsys.readouterr().err
    monkeypatch.setattr(sys, "argv", ["report.py"])
    assert report_program(tmp_path)["main"]() == 0
    assert not (tmp_path / "results" / "gone.md").exists()


def test_stories_of_tuning_stand_in_the_log_and_not_above_kernels() -> None:
    kernels = BENCHMARKS.parent / "src" / "flashpath" / "kernels"
    log = tomllib.loads((BENCHMARKS / "tuning_log.toml").read_text(encoding="utf-8"))
    assert all((kernels / file).is_file() for file in log)
    figure = re.compile(r"\b(?:Predicted|Measured|Tried)\b|[TG]B/s|TFLOP/s|\d [µm]s\b|\d % (?:slower|faster)")
    for file in [*kernels.rglob("*.cu"), *kernels.rglob("*.cuh")]:
        told = figure.search(file.read_text(encoding="utf-8"))
        assert not told, f"{file.name}: {told} belongs to benchmarks/tuning_log.toml"


def test_programs_on_a_gpu_are_of_every_folder_of_the_course() -> None:
    programs = runpy.run_path(str(BENCHMARKS / "demonstrations.py"))["programs"]()
    assert next(iter(programs)) == "cuda/01_hello_cuda.cu"
    assert [name for name in programs if name.startswith("flash_attention/")] == [
        "flash_attention/naive_attention.py",
        "flash_attention/flash_v1/cuda/flash_attention_v1.cu",
        "flash_attention/flash_v1/triton/flash_attention_v1.py",
        "flash_attention/flash_v2/triton/flash_attention_v2.py",
    ]
    assert all(path.is_file() for path in programs.values())


def test_attention_has_tables_and_pictures_over_length(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = tmp_path / "benchmarks" / "results"
    results.mkdir(parents=True)
    parameters = {"direction": "forward", "sequence": 512, "dim": 64, "causal": True}
    record = replace(
        RECORD, ladder="attention", parameters=parameters, tflop_per_s=9.0, peak_memory_bytes=2**20
    )
    naive = replace(record, implementation="naive", language="pytorch", peak_memory_bytes=2**24)
    write_run(results / "h200.json", [naive, replace(record, implementation="flash")])
    monkeypatch.setattr(sys, "argv", ["report.py"])
    assert report_program(tmp_path)["main"]() == 0
    text = (tmp_path / "results/attention.md").read_text(encoding="utf-8")
    assert "## Attention by the length of sequences" in text
    assert "- Memory beside the inputs: 16.0 to 16.0 times; the learning plans promise 10 to 20" in text
    for name in ("attention-forward-speed", "attention-forward-memory"):
        assert f"![{name}](../plots/{name}.svg)" in text
        assert (tmp_path / "plots" / f"{name}.svg").is_file()
    assert not (tmp_path / "plots" / "attention.svg").exists()
