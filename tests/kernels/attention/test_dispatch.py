"""Which rung a call takes: what was asked for, what can do it, what was measured as the fastest."""

# pyright: basic

from __future__ import annotations

import runpy
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from flashpath.bench.dispatch_cells import cells_of, runs_of
from flashpath.bench.environment import Environment
from flashpath.bench.record import Record, Time
from flashpath.bench.record_files import append
from flashpath.errors import FlashpathError
from flashpath.kernels import Choice, ladder, where
from flashpath.kernels.attention import dispatch, dispatch_table
from flashpath.kernels.attention.decode import dispatch as decoding
from flashpath.kernels.attention.ladder import LADDER
from flashpath.kernels.attention.problem import Options, Problem
from flashpath.kernels.attention.score_mod import ScoreMod

PROGRAM = Path(__file__).parents[3] / "benchmarks" / "dispatch_table.py"
HOPPER = where.named("H200")


def choose(
    problem: Problem, backend: str | None = None, direction: str = "forward", where: where.Where | None = None
) -> Choice:
    return LADDER.best(problem, backend, direction=direction, where=where)


def problem(sequence: int = 1024, dim: int = 64, causal: bool = True, **more: Any) -> Problem:
    q = torch.empty(2, sequence, 4, dim, dtype=torch.float16, device="meta")
    return Problem(q, q, q, Options(causal=causal, **more))


def record(rung: str, sequence: int, dim: int, causal: bool, microseconds: float | None) -> Record:
    direction = "backward" if "backward" in rung else "forward"
    seconds = None if microseconds is None else microseconds / 1e6
    return Record(
        implementation=rung,
        case=f"{direction} 2 × {sequence} × 4 × {dim} {'causal' if causal else 'full'} bfloat16",
        environment=Environment(
            "cuda", gpu="NVIDIA H200", versions={"torch": "2.11", "triton": "3.6"}, commit="a" * 40
        ),
        timestamp="2026-05-01T00:00:00+00:00",
        parameters={"direction": direction, "sequence": sequence, "dim": dim, "causal": causal},
        ladder="attention",
        language="cuda",
        time=None if seconds is None else Time(seconds, seconds, seconds, "events", 9),
    )


# Triton is the faster one but for short sequences of dim 64; in the gradient CUDA C++ is, everywhere.
RECORDS = [
    record("flash_v2_triton", 512, 64, True, 30.0),
    record("flash_v2_cuda", 512, 64, True, 20.0),
    record("flash_v2_triton", 8192, 64, True, 3000.0),
    record("flash_v2_cuda", 8192, 64, True, 4000.0),
    record("flash_v2_triton", 512, 128, True, 50.5),
    record("flash_v2_cuda", 512, 128, True, 60.5),
    record("flash_v2_triton_backward", 512, 64, True, 90.0),
    record("flash_v2_cuda_backward", 512, 64, True, 80.0),
    record("flash_v2_cuda", 512, 128, False, None),  # failed: no time
    record("flash_v2_triton", 512, 128, False, 70.0),
    replace(record("torch (cuDNN)", 512, 64, True, 1.0), is_peer=True),
    replace(record("flash_v2_cuda", 512, 64, True, 1.0), ladder="another"),
]


@pytest.fixture
def measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """These records, written by the program and read by the dispatch."""
    records, file = tmp_path / "h200.jsonl", tmp_path / "table.json"
    append(records, RECORDS)
    monkeypatch.setattr(sys, "argv", ["dispatch_table.py", str(records), "--output", str(file)])
    assert runpy.run_path(str(PROGRAM))["main"]() == 0
    found = dispatch_table.read(file)
    monkeypatch.setattr(dispatch, "table", lambda: found)
    dispatch.fastest.cache_clear()
    yield file
    dispatch.fastest.cache_clear()


@pytest.mark.parametrize(
    ("sequence", "dim", "causal", "direction", "backend", "why"),
    [
        (
            512,
            64,
            True,
            "forward",
            "cuda",
            "measured on NVIDIA H200 with 2 × 512 tokens, 4 heads, dim 64, causal: cuda 20.0 µs",
        ),
        (
            1500,
            64,
            True,
            "forward",
            "cuda",
            "2 × 512 tokens, 4 heads, dim 64, causal, the nearest that was: cuda 20.0 µs",
        ),
        (
            4000,
            72,
            True,
            "forward",
            "triton",
            "8,192 tokens, 4 heads, dim 64, causal, the nearest that was: triton 3,000",
        ),
        (512, 128, True, "forward", "triton", "triton 50.5 µs, cuda 60.5 µs"),
        (9000, 256, True, "forward", "triton", "512 tokens, 4 heads, dim 128, causal, the nearest that was"),
        (
            512,
            64,
            False,
            "forward",
            "triton",
            "512 tokens, 4 heads, dim 128, full, the nearest that was: triton 70.0 µs",
        ),
        (9000, 64, True, "backward", "cuda", "cuda 80.0 µs, triton 90.0 µs"),
        (
            512,
            64,
            False,
            "backward",
            "triton",
            "no measurement of this GPU is known; Triton's compiler writes",
        ),
    ],
)
def test_the_nearest_measurement_decides(
    measured: Path, sequence: int, dim: int, causal: bool, direction: str, backend: str, why: str
) -> None:
    choice = choose(problem(sequence, dim, causal), None, direction, HOPPER)
    assert (choice.rung.language, why in str(choice.why)) == (backend, True), choice


def test_other_gpus_go_by_their_instructions(measured: Path) -> None:
    for name, backend in (("A100", "cuda"), ("sm_89", "cuda"), ("B200", "triton"), ("H100", "cuda")):
        assert choose(problem(512), None, "forward", where.named(name)).rung.language == backend
    with pytest.raises(FlashpathError, match="T4 is sm_75"):
        choose(problem(), None, "forward", where.named("T4"))
    assert str(choose(problem()).why).startswith("on the virtual GPU")


def test_what_a_rung_cannot_do_is_not_chosen(measured: Path) -> None:
    only = ScoreMod("mine", triton=object())
    assert choose(problem(512, score_mod=only), None, "forward", HOPPER).rung.language == "triton"
    small = where.named("RTX 3090")
    assert choose(problem(dim=256), None, "forward", small).rung.language == "cuda"
    choice = choose(problem(dim=256), None, "backward", small)
    assert (choice.rung.language, "fit into 101,376 bytes" in str(choice.why)) == ("triton", True)


def test_what_is_asked_for_is_taken(measured: Path) -> None:
    for backend in dispatch.BACKENDS:
        assert choose(problem(), backend, "backward", HOPPER).why.code == "kernels.asked"


def test_what_is_asked_for_and_cannot_be_done_is_refused(measured: Path) -> None:
    with pytest.raises(FlashpathError, match="shared memory for dimensions of 256"):
        choose(problem(dim=256), "cuda", "backward", where.named("RTX 3090"))
    with pytest.raises(FlashpathError, match="sm_80 and newer; T4 is sm_75"):
        choose(problem(), "triton", "forward", where.named("T4"))
    only = ScoreMod("mine", triton=object())
    with pytest.raises(FlashpathError, match="no form for cuda"):
        choose(problem(score_mod=only), "cuda", "forward", HOPPER)


def test_a_record_that_does_not_say_its_heads_is_refused() -> None:
    with pytest.raises(FlashpathError, match="batch and heads"):
        cells_of([replace(RECORDS[0], case="forward 512")])


def test_the_rungs_of_the_table_are_those_of_the_ladder() -> None:
    names = {rung.name for rung in ladder("attention")}
    for rungs in dispatch_table.RUNGS.values():
        assert set(rungs) == set(dispatch.BACKENDS)
        assert set(rungs.values()) <= names
    assert set(dispatch_table.DECODE_RUNGS) == set(decoding.BACKENDS)
    assert set(dispatch_table.DECODE_RUNGS.values()) <= {rung.name for rung in ladder("attention_decode")}


def test_the_packages_table_is_that_of_the_records(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["dispatch_table.py", "--check"])
    assert runpy.run_path(str(PROGRAM))["main"]() == 0, "python benchmarks/dispatch_table.py writes it again"
    assert "up to date" in capsys.readouterr().err


def test_a_table_says_which_run_it_is_of(measured: Path) -> None:
    assert runs_of(RECORDS) == ["NVIDIA H200, 2026-05-01, torch 2.11, triton 3.6, commit aaaaaaaaaa"]
    assert dispatch_table.read(measured).runs == tuple(runs_of(RECORDS))


def test_a_gpu_that_nobody_knows_needs_its_capability() -> None:
    unknown = [replace(RECORDS[0], environment=Environment("cuda", gpu="NVIDIA Z1"))]
    with pytest.raises(FlashpathError, match="--capability"):
        cells_of(unknown)
    (cell,) = cells_of(unknown, (12, 0))
    assert cell.capability == (12, 0)


@pytest.mark.parametrize("text", ["", "{}", '{"runs": [], "cells": [{"capability": "9.0"}]}'])
def test_a_broken_table_is_told(tmp_path: Path, text: str) -> None:
    file = tmp_path / "table.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(FlashpathError, match="no table of measured attention"):
        dispatch_table.read(file)


@pytest.mark.parametrize(
    ("text", "capability"),
    [("cpu", None), ("virtual", None), ("sm_90", (9, 0)), ("sm_90a", (9, 0)), ("l4", (8, 9))],
)
def test_gpus_by_name(text: str, capability: tuple[int, int] | None) -> None:
    assert where.named(text).capability == capability
