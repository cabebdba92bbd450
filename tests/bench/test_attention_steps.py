"""docs/attention.md: what each rung changed, as benchmarks/attention_steps.py writes it."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from flashpath.bench.attention_steps import MEASURED, SECTION, count_steps, measured_speeds, section
from flashpath.bench.attention_traffic import Traffic
from flashpath.bench.environment import Environment
from flashpath.bench.record import Record
from flashpath.bench.record_files import load_runs
from flashpath.documents import language_of, with_section
from flashpath.kernels import ladder
from flashpath.kernels.attention.dispatch_table import RUNGS

ROOT = Path(__file__).parents[2]
DOCUMENT = ROOT / "docs" / "attention.md"


@pytest.fixture(scope="module")
def rows() -> list[Traffic]:
    return count_steps(ladder("attention"))


@pytest.mark.parametrize("document", [DOCUMENT, DOCUMENT.with_suffix(".zh.md")], ids=["en", "zh"])
def test_the_section_is_what_the_program_writes(rows: list[Traffic], document: Path) -> None:
    """But for the bytes of Triton's kernels, which another version of its compiler may move otherwise."""
    text, found = document.read_text(encoding="utf-8"), ladder("attention")
    table_rows = re.findall(r"^\| `(\w+)` \|(?:.*?\|)?? ([\d,]+) \|", text, re.MULTILINE)
    written = {name: int(count.replace(",", "")) for name, count in table_rows}
    assert set(written) == {row.rung for row in rows}
    shown = [
        replace(row, bytes=written[row.rung]) if found[row.rung].language == "triton" else row for row in rows
    ]
    made = section(found, shown, load_runs(ROOT / "benchmarks" / "results"), language_of(document))
    wanted = with_section(text, SECTION, made)
    assert wanted == text, "python benchmarks/attention_steps.py docs/attention.md writes it again"


def test_speeds_are_of_one_problem_and_of_the_gpu_that_was_measured_last(rows: list[Traffic]) -> None:
    def record(name: str, gpu: str, speed: float, timestamp: str, **other: object) -> Record:
        parameters = {"direction": "forward", **MEASURED, **other}
        environment = Environment("cuda", gpu=gpu)
        case = f"{gpu} {parameters}"
        return Record(name, case, environment, timestamp, parameters, ladder="attention", tflop_per_s=speed)

    rung = RUNGS["forward"]["triton"]
    records = [
        record(rung, "A100", 100.0, "2026-01-01"),
        record(rung, "H200", 500.0, "2026-02-01"),
        record("naive", "H200", 50.0, "2026-02-01"),
        record(rung, "H200", 900.0, "2026-02-01", sequence=512),
    ]
    assert measured_speeds(records, "forward") == {rung: (500.0, "H200"), "naive": (50.0, "H200")}
    assert measured_speeds(records, "backward") == {}
    text = section(ladder("attention"), rows, records)
    assert "TFLOP/s, H200" in text
    (line,) = (each for each in text.splitlines() if each.startswith(f"| `{rung}` |"))
    assert line.endswith("| 500 |")
