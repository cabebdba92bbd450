"""programs/triton/04_layer_norm.py says what is wrong, and its exit code too."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PROGRAM = Path(__file__).parents[2] / "programs" / "triton" / "04_layer_norm.py"


def run(file: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(file), *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)


def test_it_is_right_for_a_shape_of_ones_own() -> None:
    done = run(PROGRAM, "5", "40")
    assert done.returncode == 0, done.stderr
    assert "     5 × 40     forward  right" in done.stdout
    assert "     5 × 40     backward right" in done.stdout


def test_it_tells_what_is_wrong(tmp_path: Path) -> None:
    source = PROGRAM.read_text(encoding="utf-8")
    call = "ladder[rung](*inputs), inputs)"
    assert source.count(call) == 1
    wrong = tmp_path / "wrong.py"
    wrong.write_text(source.replace(call, "ladder[rung](-inputs[0], *inputs[1:]), inputs)"), encoding="utf-8")
    done = run(wrong, "5", "40")
    assert done.returncode == 1, done.stderr
    assert "forward  wrong: the error is" in done.stdout
    assert "backward wrong: the error is" in done.stdout
