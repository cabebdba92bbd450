"""benchmarks/linear_cross_entropy.py: a small run of it on the CPU, and what it records."""

from __future__ import annotations

import runpy
from pathlib import Path

from flashpath.bench import load

PROGRAM = Path(__file__).parents[2] / "benchmarks" / "linear_cross_entropy.py"


def test_ours_and_torchs_step_agree_and_are_recorded(tmp_path: Path) -> None:
    program = runpy.run_path(str(PROGRAM))
    file = tmp_path / "records.jsonl"
    size = ["--size", "40", "32", "300"]
    assert program["main"]([str(file), *size, "--device", "cpu", "--seconds", "0"]) == 0
    records = load(file)
    assert {record.implementation: record.is_peer for record in records} == {
        program["OURS"]: False,
        "torch": True,
    }
    assert all(record.time is not None and record.case == "40 × 32 × 300 bfloat16" for record in records)
