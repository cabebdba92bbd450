"""Bytes that attention's rungs move, counted on the virtual GPU, beside formulas and the paper's bound."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from flashpath.bench.counting import count
from flashpath.bench.device import load_torch
from flashpath.bench.failure import FAILURES, describe
from flashpath.bench.operators import operator_bytes
from flashpath.kernels.attention import traffic
from flashpath.kernels.attention.problem import Options, Problem
from flashpath.kernels.rung import Case, Ladder, Rung

# The formula in torch, beside which the others are compared.
NAIVE = {"forward": "naive", "backward": "naive_backward"}


@dataclass(frozen=True)
class Traffic:
    """The traffic of one call of a rung, for one head: all sectors of 32 bytes it asks for, also again.

    `bytes` is None where it failed. `by_formula` is what its loops move, `least` each tensor once, `bound`
    the paper's N² d² / M, all in bytes.
    """

    rung: str
    case: str
    direction: str
    sequence: int
    dim: int
    causal: bool
    bytes: int | None
    by_formula: float | None
    formula: str | None
    least: int
    bound: float
    on_chip_bytes: int
    failure: str | None = None
    is_of_operators: bool = False  # counted from torch's operators, not from a kernel


def count_traffic(
    ladder: Ladder,
    cases: Iterable[Case],
    *,
    rungs: Sequence[str] | None = None,
    on_chip_bytes: int = traffic.ON_CHIP_BYTES,
    on_row: Callable[[Traffic], None] = lambda row: None,
) -> list[Traffic]:
    """Every rung that takes a case, run once; the naive ones by their operators."""
    chosen = [ladder[name] for name in rungs] if rungs is not None else list(ladder)
    rows: list[Traffic] = []
    for case in cases:
        for rung in chosen:
            if _is_counted(rung) and not (rung.declines and rung.declines(case)):
                rows.append(_row(rung, case, on_chip_bytes))
                on_row(rows[-1])
    return rows


def _is_counted(rung: Rung) -> bool:
    return rung.language != "pytorch" or rung.name in NAIVE.values()


def _row(rung: Rung, case: Case, on_chip_bytes: int) -> Traffic:
    is_of_operators = rung.language == "pytorch"
    moved, failure = _of_operators(rung, case) if is_of_operators else _of_kernels(rung, case)
    problem = problem_of(case)
    loops = traffic.LOOPS[rung.name](problem) if rung.name in traffic.LOOPS else None
    return Traffic(
        rung=rung.name,
        case=case.name,
        bytes=moved,
        by_formula=loops.bytes(problem) if loops and not case.parameters["causal"] else None,
        formula=loops.words if loops else None,
        least=case.bytes,
        bound=traffic.io_bound(problem, on_chip_bytes),
        on_chip_bytes=on_chip_bytes,
        failure=failure,
        is_of_operators=is_of_operators,
        **{name: case.parameters[name] for name in ("direction", "sequence", "dim", "causal")},
    )


def _of_kernels(rung: Rung, case: Case) -> tuple[int | None, str | None]:
    counted = count(rung, case)
    return (None if counted.failure else counted.global_bytes), counted.failure


def _of_operators(rung: Rung, case: Case) -> tuple[int | None, str | None]:
    inputs = case.inputs("cpu")
    try:
        return operator_bytes(lambda: rung(*inputs)), None
    except FAILURES as error:
        return None, describe(error)


def problem_of(case: Case) -> Problem:
    """One head of the case's, without memory: what is counted here has one."""
    torch = load_torch()
    shape = (1, case.parameters["sequence"], 1, case.parameters["dim"])
    empty: Any = torch.empty(shape, dtype=torch.bfloat16, device="meta")
    return Problem(empty, empty, empty, Options(causal=case.parameters["causal"]))


def table(rows: Sequence[Traffic]) -> list[tuple[str, ...]]:
    """Headings and cells: a row for each rung, a group of columns for each length."""
    lengths = sorted({row.sequence for row in rows})
    headings = ("rung", *(text for n in lengths for text in (f"bytes, N = {n}", "× once", "× N² d²/M")))
    cells: list[tuple[str, ...]] = [headings]
    for rung in dict.fromkeys(row.rung for row in rows):
        of_rung = {row.sequence: row for row in rows if row.rung == rung}
        parts = (part for n in lengths for part in _cells(of_rung.get(n)))
        cells.append((rung, *parts))
    return cells


def _cells(row: Traffic | None) -> tuple[str, str, str]:
    if row is None or row.bytes is None:
        return ("failed" if row and row.failure else "–", "–", "–")
    return f"{row.bytes:,}", f"{row.bytes / row.least:.2f}", f"{row.bytes / row.bound:.1f}"
