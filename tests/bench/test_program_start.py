"""benchmarks/program_start.py: a short run of all of it, and what it writes."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parents[2] / "benchmarks" / "program_start.py"


@pytest.mark.alone
def test_starts_are_timed_and_recorded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = runpy.run_path(str(PROGRAM))
    code = program["main"](["--rounds", "1", "--json", str(tmp_path / "start.json")])
    told = capsys.readouterr().out
    seconds = json.loads((tmp_path / "start.json").read_text(encoding="utf-8"))["seconds"]
    assert list(seconds) == [program[name] for name in ("RUN", "ALONE", "PYTHON", "LOOP")]
    assert seconds[program["ALONE"]] < seconds[program["RUN"]]
    assert code == int(any(seconds[name] > most for name, most in program["MOST"].items()))
    assert "(mark: at most 400)" in told
    assert "× the time of the program alone" in told
