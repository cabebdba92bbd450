"""benchmarks/flash_attn_tests.py: its sample, its record, and the section of docs/flash_attn.md."""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / "benchmarks" / "flash_attn_tests.py"
DOCUMENT = ROOT / "docs" / "flash_attn.md"

SUITE = """
import pytest, torch

@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("d", [32, 64, 128])
@pytest.mark.parametrize("seqlen_q,seqlen_k", [(q, k) for q in range(1, 31) for k in range(1, 31)])
def test_flash_attn_output(seqlen_q, seqlen_k, d, causal, dtype):
    assert seqlen_k != 7, "seven"

@pytest.mark.parametrize("dtype", [torch.float16])
@pytest.mark.parametrize("d", [64, 128])
def test_flash_attn_bwd_overflow(d, dtype):
    pass

def test_of_another_kind():
    raise AssertionError("it is not of the sample")
"""


@pytest.fixture(scope="module")
def program() -> dict[str, Any]:
    return runpy.run_path(str(PROGRAM))


def test_the_sample_is_small_and_the_same_every_time(tmp_path: Path) -> None:
    (tmp_path / "test_suite.py").write_text(SUITE, encoding="utf-8")

    def lines(name: str, **more: str) -> list[list[Any]]:
        log = tmp_path / name
        command = [sys.executable, "-m", "pytest", "-q", "-c", os.devnull, "-p", "no:cacheprovider"]
        outside = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
        path = os.pathsep.join([str(PROGRAM.parent), os.environ.get("PYTHONPATH", "")])
        subprocess.run(
            [*command, "-p", "flash_attn_sample", "test_suite.py"],
            cwd=tmp_path,
            env={**outside, "PYTHONPATH": path, "FLASH_ATTN_TESTS_LOG": str(log), **more},
            capture_output=True,
            check=False,
        )
        return [json.loads(each) for each in log.read_text(encoding="utf-8").splitlines()]

    first, second = lines("first"), lines("second")
    assert [each[:2] for each in first] == [each[:2] for each in second]
    functions = [each[0].partition("[")[0] for each in first]
    assert functions.count("test_flash_attn_output") == 300
    assert functions.count("test_flash_attn_bwd_overflow") == 2
    assert set(functions) == {"test_flash_attn_output", "test_flash_attn_bwd_overflow"}
    assert {each[1] for each in first if "seqlen_k=7," in each[0]} == {"failed"}
    assert {each[1] for each in first if "seqlen_k=7," not in each[0]} == {"passed"}
    late = lines("late", FLASH_ATTN_TESTS_DEADLINE="0")
    assert {each[1] for each in late} == {"skipped"}
    assert all("out of time" in each[3] for each in late)


def test_outcomes_are_counted_by_function(program: dict[str, Any]) -> None:
    lines = [
        ["test_b[d=1]", "passed", 0.1, ""],
        ["test_a[d=1]@group", "failed", 0.2, "/some/where/test_flash_attn.py:9: assert 2 <=\n 1"],
        ["test_a[d=2]@group", "skipped", 0.0, "Skipped: out of time"],
        ["test_a[d=3]@group", "skipped", 0.0, "Skipped: too large"],
    ]
    assert program["outcomes"](lines) == {
        "tests": {"test_a": {"failed": 1, "skipped": 1, "not run": 1}, "test_b": {"passed": 1}},
        "failures": [{"test": "test_a[d=1]", "reason": "test_flash_attn.py:9: assert 2 <= 1"}],
    }


def test_the_document_is_made_of_the_record(
    program: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write, record = program["write_document"], program["RECORD"]
    assert write(DOCUMENT, record, True) == 0, f"python {PROGRAM.name} --document docs/{DOCUMENT.name}"
    assert json.loads(record.read_text(encoding="utf-8"))["ended"]
    copy = tmp_path / "copy.md"
    text = DOCUMENT.read_text(encoding="utf-8")
    copy.write_text(text.replace("passed, ", "won, "), encoding="utf-8")
    assert write(copy, record, True) == 1
    assert "out of date" in capsys.readouterr().err
    assert write(copy, record, False) == 0
    assert copy.read_text(encoding="utf-8") == text
    copy.write_text("nothing", encoding="utf-8")
    assert write(copy, record, False) == 1
    assert "no place" in capsys.readouterr().err
