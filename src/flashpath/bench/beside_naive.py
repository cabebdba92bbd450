"""Speed and memory of attention beside the naive one, and beside what is said of FlashAttention."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from flashpath.bench.failure import is_out_of_memory, shown
from flashpath.bench.lengths import LENGTH
from flashpath.bench.record import Record
from flashpath.bench.report import cell
from flashpath.bench.table import NO_VALUE, digits, memory, seconds
from flashpath.messages import say

# What the learning plans promise, after the README of FlashAttention's first version.
CLAIMED_SPEED = (2.0, 4.0)
CLAIMED_MEMORY = (10.0, 20.0)
CLAIM = """\
The learning plans that this course fulfils promise of FlashAttention, beside naive attention, 2 to 4 times
the speed and a tenth to a twentieth of the memory. Both are what the README of FlashAttention's first version
says of an A100: 2 to 4 times at 128 to 4,096 tokens; 10 times less memory at 2,048 tokens, 20 times at 4,096.

Naive attention is the formula in PyTorch, step by step (the rung `naive`). Beside it stands the fastest rung
of each problem. "forward" and "backward" are one call each. "both" is a step of training. Of the rung it is a
forward and a backward call; the memory is the larger of their peaks. Of naive attention it is the backward
call alone: that begins with the forward one, since nobody kept the weights. So "both" is the fair comparison
of training, and "backward" alone favours the rung.
"""
_NAIVE = {"forward": "naive", "backward": "naive_backward"}


@dataclass(frozen=True)
class Beside:
    """The fastest rung of a direction, beside naive attention on the same problem, both of one run."""

    direction: str  # or "both": a step of training
    problem: str  # batch × tokens × heads × dim, mask and type, as the case has them
    sequence: int
    rung: str
    seconds: float
    bytes: int | None  # of memory, beside the inputs
    naive_seconds: float | None
    naive_bytes: int | None
    naive_failure: str | None

    @property
    def speed(self) -> float | None:
        return self.naive_seconds / self.seconds if self.naive_seconds else None

    @property
    def memory(self) -> float | None:
        return self.naive_bytes / self.bytes if self.naive_bytes and self.bytes else None


def beside_naive(records: Sequence[Record]) -> list[Beside]:
    """Returns the comparisons by mask, dimension and length, and of both directions together, a step.

    Naive's gradient begins with its forward direction, as nobody kept the weights: it is its whole step.
    """
    rows: list[Beside] = []
    of_problem: dict[tuple[int, bool, int], dict[str, list[Record]]] = {}
    for record in records:
        problem = record.parameters
        if not {"direction", "dim", "causal", LENGTH} <= problem.keys():
            continue
        by_direction = of_problem.setdefault((problem["dim"], problem["causal"], problem[LENGTH]), {})
        by_direction.setdefault(problem["direction"], []).append(record)
    for (_, _, sequence), by_direction in sorted(of_problem.items()):
        rows_of_problem = {
            direction: row
            for direction in _NAIVE
            if (row := _of_direction(direction, sequence, by_direction.get(direction, [])))
        }
        rows += rows_of_problem.values()
        if len(rows_of_problem) == len(_NAIVE):
            rows.append(_step(rows_of_problem["forward"], rows_of_problem["backward"]))
    return rows


def _of_direction(direction: str, sequence: int, records: Iterable[Record]) -> Beside | None:
    records = list(records)
    naive = next((record for record in records if record.implementation == _NAIVE[direction]), None)
    ours = [
        record for record in records if not record.is_peer and record.language != "pytorch" and record.time
    ]
    if naive is None or naive.skipped or not ours:
        return None
    best = min(ours, key=lambda record: record.time.median if record.time else 0.0)
    assert best.time is not None
    return Beside(
        direction,
        best.case.removeprefix(f"{direction} "),
        sequence,
        best.implementation,
        best.time.median,
        best.peak_memory_bytes,
        naive.time.median if naive.time else None,
        naive.peak_memory_bytes,
        None if naive.time else shown(naive.error or "failed", "en"),
    )


def _step(forward: Beside, backward: Beside) -> Beside:
    peaks = [direction.bytes for direction in (forward, backward) if direction.bytes]
    return Beside(
        "both",
        forward.problem,
        forward.sequence,
        f"{forward.rung}, {backward.rung}",
        forward.seconds + backward.seconds,
        max(peaks, default=None),
        backward.naive_seconds,
        backward.naive_bytes,
        backward.naive_failure,
    )


def verdict(ratios: Sequence[float | None], claimed: tuple[float, float]) -> str:
    """`1.9 to 7.2 times; the learning plans promise 2 to 4, and 30 of 36 problems have at least 2`."""
    known = [ratio for ratio in ratios if ratio is not None]
    low, high = claimed
    if not known:
        return f"not measured; the learning plans promise {low:g} to {high:g} times"
    met = sum(ratio >= low for ratio in known)
    span = f"{digits(min(known))} to {digits(max(known))} times"
    return (
        f"{span}; the learning plans promise {low:g} to {high:g}, "
        f"and {met} of {len(known)} problems have at least {low:g}"
    )


def markdown(rows: Sequence[Beside]) -> str:
    """Returns what is claimed and by whom, what is found beside it, then a row for each problem."""
    headings = (
        "problem: batch × tokens × heads × dim",
        "direction",
        "rung",
        "naive, time",
        "rung, time",
        "× speed",
        "naive, memory",
        "rung, memory",
        "× memory",
    )
    lines = [
        CLAIM,
        f"- Speed: {verdict([row.speed for row in rows], CLAIMED_SPEED)}.",
        f"- Memory beside the inputs: {verdict([row.memory for row in rows], CLAIMED_MEMORY)}.",
        "",
        f"| {' | '.join(headings)} |",
        "| --- | --- | --- |" + " ---: |" * (len(headings) - 3),
    ]
    lines += [f"| {' | '.join(_cells(row))} |" for row in rows]
    return "\n".join(lines)


def _cells(row: Beside) -> tuple[str, ...]:
    failed = say("bench.out-of-memory") if is_out_of_memory(row.naive_failure) else say("bench.failed")
    return (
        cell(row.problem),
        row.direction,
        ", ".join(f"`{name}`" for name in row.rung.split(", ")),
        seconds(row.naive_seconds) if row.naive_seconds else failed,
        seconds(row.seconds),
        digits(row.speed),
        memory(row.naive_bytes) if row.naive_bytes else NO_VALUE,
        memory(row.bytes),
        digits(row.memory),
    )
