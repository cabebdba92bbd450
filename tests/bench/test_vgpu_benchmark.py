"""benchmarks/vgpu.py: its workloads, what it makes of the times, and a quick run of all of it."""

from __future__ import annotations

import importlib
import json
import os
import re
import runpy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from flashpath.bench.timer import Timing
from flashpath.errors import FlashpathError
from flashpath.vgpu.device import VirtualModule

ROOT = Path(__file__).parents[2]
BENCHMARKS = ROOT / "benchmarks"


@pytest.fixture
def vgpu(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(sys, "path", [str(BENCHMARKS), *sys.path])
    return importlib.import_module("vgpu")


def figures(vgpu: Any, **medians: float) -> dict[str, Any]:
    return {getattr(vgpu, name): vgpu.Figure(median=median) for name, median in medians.items()}


def test_a_slice_is_scaled_to_the_whole(vgpu: Any) -> None:
    timing = Timing.of([0.001, 0.002, 0.003], "clock")
    figure = vgpu.Figure.of(timing, vgpu.Way(print, 10, "1 of 10 blocks", 7))
    assert figure.median == pytest.approx(20)
    assert figure.p20 <= figure.median <= figure.p80
    assert (figure.samples, figure.note, figure.instructions, figure.error) == (3, "1 of 10 blocks", 7, "")
    assert vgpu.Figure.of(Timing.failed("no GPU"), vgpu.Way(print)).error == "no GPU"


def test_marks_compare_what_was_promised(vgpu: Any) -> None:
    results = vgpu.Results(
        cases={
            "Triton vector add, 1": figures(vgpu, PLAIN=1, FAST_COUNTED=2, INTERPRETER=150),
            "Triton matmul": figures(vgpu, PLAIN=10, FAST_COUNTED=2, INTERPRETER=30),
            "matmul": figures(
                vgpu,
                COUNTED=3,
                SANITISED=6,
                FAST_COUNTED=2,
                SIMULATOR=1000,
            ),
        },
        front_end={
            "1,000 instructions": vgpu.Figure(median=30),
            "10,000 instructions": vgpu.Figure(median=300),
        },
    )
    found = [(mark.at_least, mark.ratio, mark.is_met) for mark in vgpu.marks(results)]
    assert found == [
        (100, 75, False),
        (4, 150, True),
        (10, 15, True),
        (4, 3, False),
        (1000, 500, False),
        (1 / 3, 0.5, True),
        (1, 2, True),
    ]


def test_what_was_refused_misses_its_mark(vgpu: Any) -> None:
    case = figures(vgpu, INTERPRETER=1000) | {vgpu.PLAIN: vgpu.Figure(error="refused: no such instruction")}
    for mark in vgpu.marks(vgpu.Results(cases={"Triton matmul": case})):
        assert mark.ratio is None
        assert not mark.is_met
        assert "not measured" in str(mark)


def test_a_refusal_is_reported_and_the_others_are_timed(vgpu: Any) -> None:
    def refuse() -> Any:
        raise FlashpathError(
            "vgpu.unsupported-instruction",
            kernel="k", ptx_line=9, place=" (/home/me/k.cu:3)", problem="the instruction x is not known",
        )  # fmt: skip

    calls: list[int] = []
    attempts: dict[str, Callable[[], Any]] = {
        "one": refuse,
        "two": lambda: {"two": vgpu.Way(lambda: calls.append(1))},
    }
    found = vgpu.measure(attempts, seconds=0)
    assert found["one"].error == "refused: the instruction x is not known."
    assert found["two"].median > 0
    assert len(calls) >= 5


@pytest.mark.parametrize("instructions", [100, 1000])
def test_the_kernel_of_the_front_end_is_as_long_as_it_says(vgpu: Any, instructions: int) -> None:
    text = vgpu.straight_line_ptx(instructions)
    assert len(re.findall(r"(?m)^(?:@%p1 )?[a-z][\w.]* ?[^;{]*;$", text)) == instructions
    assert VirtualModule(text).kernel("straight").name == "straight"


def test_a_wrong_result_is_not_timed(vgpu: Any) -> None:
    workload = vgpu.cuda_workloads(quick=True)[0]
    right = workload.expected()
    workload.check(right)
    for wrong in (right + 1, np.full_like(right, np.nan)):
        with pytest.raises(AssertionError, match="off by"):
            workload.check(wrong)


def test_a_peer_that_is_not_installed_says_so(vgpu: Any, tmp_path: Path) -> None:
    (tmp_path / "numba.py").write_text("raise ImportError('no numba in this test')\n")
    path = os.pathsep.join([str(tmp_path), str(ROOT / "src")])
    with (
        vgpu.Peer("numba", {"PYTHONPATH": path}) as numba,
        pytest.raises(RuntimeError, match="numba ended: ImportError: no numba in this test"),
    ):
        numba.run("vector_add")


@pytest.mark.alone
def test_a_quick_run_and_its_report(vgpu: Any, tmp_path: Path) -> None:
    results = tmp_path / "benchmarks" / "results"
    results.mkdir(parents=True)
    done = subprocess.run(
        [sys.executable, str(BENCHMARKS / "vgpu.py"), "--quick", "--json", str(results / "cpu-vgpu.json")],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    record = json.loads((results / "cpu-vgpu.json").read_text(encoding="utf-8"))
    assert len(record["milliseconds"]) == 9
    for case, ways in record["milliseconds"].items():
        for figure in ways.values():
            assert (figure["median"] or 0) > 0, (case, figure)
    for kernel in ("vector add", "matmul", "shuffle reduction", "flash attention", "spin lock"):
        (ways,) = (ways for case, ways in record["milliseconds"].items() if case.startswith(kernel))
        assert set(ways) == {vgpu.PLAIN, vgpu.COUNTED, vgpu.FAST, vgpu.FAST_COUNTED, vgpu.SANITISED}
        assert all(figure["instructions"] > 0 for figure in ways.values())

    pages = runpy.run_path(str(BENCHMARKS / "machine_pages.py"))["machine_pages"](results)
    text = "\n".join(pages["virtual-gpu"][1])
    assert f"## The virtual GPU on one core, {record['cpu']}" in text
    assert "| 1,000 instructions ready, 60 ms | 1 × |" in text
