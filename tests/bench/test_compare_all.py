"""benchmarks/compare_all.py: both of its ways, and going on with what a file already has."""

from __future__ import annotations

import json
import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from flashpath.bench.environment import Environment
from flashpath.bench.record import Record, Time
from flashpath.bench.record_files import load

PROGRAM = Path(__file__).parents[2] / "benchmarks" / "compare_all.py"


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    names = runpy.run_path(str(PROGRAM))["main"].__globals__

    def main(*words: str, **replaced: Any) -> int:
        monkeypatch.setattr(sys, "argv", ["compare_all.py", *words])
        names.update(replaced)
        return names["main"]()

    return main


def test_help_has_examples(run: Callable[..., int], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        run("--help")
    assert ended.value.code == 0
    assert "compare_all.py --lengths 1024,4096 --dims 128" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["--masks", "some"], 2, "'some' is none of causal, full"),
        (["--lengths", "0"], 2, "no whole number"),
        (["--device", "virtual", "--lengths", "1000000"], 1, "the virtual GPU takes up to"),
        (["--device", "virtual", "--implementations", "flash_v3"], 1, "has no rung 'flash_v3'"),
        (["--json", "/nowhere/at/all.jsonl"], 1, "There is no folder"),
    ],
)
def test_what_is_wrong_is_said(
    run: Callable[..., int], capsys: pytest.CaptureFixture[str], words: list[str], code: int, says: str
) -> None:
    if code == 2:  # by the parser itself
        with pytest.raises(SystemExit) as ended:
            run(*words)
        assert ended.value.code == code
    else:
        assert run(*words) == code
    assert says in capsys.readouterr().err


def test_counts_of_the_virtual_gpu_are_kept_and_not_counted_again(
    run: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "counts.jsonl"
    words = ["--device", "virtual", "--lengths", "64,128", "--masks", "full", "--json", str(file)]
    words += ["--implementations", "naive", "online_softmax", "flash_v2_cuda", "--directions", "forward"]
    assert run(*words) == 0
    first = capsys.readouterr().out
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert [(row["rung"], row["sequence"]) for row in rows] == [
        (rung, n) for n in (64, 128) for rung in ("naive", "online_softmax", "flash_v2_cuda")
    ]
    assert all(row["bytes"] > row["least"] for row in rows)
    assert "forward, dim 64, full" in first
    assert run(*words) == 0
    again = capsys.readouterr().out
    assert "0 rungs in" in again
    assert f"{rows[-1]['bytes']:,}" in again
    assert len(file.read_text(encoding="utf-8").splitlines()) == 6


def test_on_a_gpu_cases_that_are_done_are_skipped_and_tables_are_printed(
    run: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without one, what times them is played: a record for every implementation of every case."""
    timed: list[str] = []

    def bench_ladder(ladder: Any, *, cases: Any, only: Any, peers: Any, on_record: Any, **_: Any) -> Any:
        for case in cases:
            timed.append(case.name)
            for name in (*only, *peers):
                is_naive = name == "naive"
                fails = is_naive and case.parameters["sequence"] > 512
                seconds = 3e-3 if is_naive else 1e-3
                on_record(
                    Record(
                        implementation=name,
                        case=case.name,
                        environment=Environment("cuda", gpu="H200"),
                        timestamp="2026",
                        parameters=case.parameters,
                        ladder=ladder.name,
                        language="pytorch" if is_naive else "triton",
                        is_peer=name in peers,
                        time=None if fails else Time(seconds, seconds, seconds, "events", 5),
                        tflop_per_s=None if fails else case.flops / seconds / 1e12,
                        peak_memory_bytes=None if fails else 2**24 if is_naive else 2**20,
                        error="out of memory: 9 GiB more were asked for" if fails else None,
                    )
                )
        return SimpleNamespace(interrupted=False)

    def no_ceilings(*_: Any) -> None:
        return None

    played: dict[str, Any] = {
        "bench_ladder": bench_ladder,
        "measure_ceilings": no_ceilings,
        "device": SimpleNamespace(count=lambda: 1),
    }
    file = tmp_path / "h200.jsonl"
    words = ["--json", str(file), "--dims", "64", "--masks", "causal", "--directions", "forward"]
    words += ["--implementations", "naive", "flash_v2_triton", "torch (cuDNN)"]
    assert run(*words, "--lengths", "512", **played) == 0
    assert timed == ["forward 32 × 512 × 32 × 64 causal bfloat16"]
    assert "[1/1, 0 s] forward 32 × 512 × 32 × 64 causal bfloat16: " in capsys.readouterr().out
    assert run(*words, "--lengths", "512,16384", "--plots", str(tmp_path / "plots")) == 0
    assert timed[1:] == ["forward 1 × 16384 × 32 × 64 causal bfloat16"]
    text = capsys.readouterr().out
    assert "2 cases, 1 of them done; 2 rungs, 1 peers" in text
    assert "not importable here: flash-attn 3 (module flash_attn_interface)" in text
    assert "    naive: out of memory: 9 GiB more were asked for" in text
    assert (
        "| 32 × 512 × 32 × 64 causal bfloat16 | forward | `flash_v2_triton` | 3.00 ms | 1.00 ms | 3.00 |"
        in text
    )
    assert len(load(file)) == 6
    assert (tmp_path / "plots" / "attention-forward-memory.svg").is_file()
    assert run("--implementations", "flash-attn 3") == 1
    assert "Its module flash_attn_interface cannot be imported" in capsys.readouterr().err
