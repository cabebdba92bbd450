"""Records of the attention ladders as the cells that `fp.attention` and `attention_decode` choose by."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from flashpath import gpus
from flashpath.bench.record import Record
from flashpath.bench.report import newest
from flashpath.errors import FlashpathError
from flashpath.kernels.attention.decode.ladder import DIM as DECODE_DIM
from flashpath.kernels.attention.dispatch_table import DECODE_RUNGS, RUNGS, Cell, DecodeCell, Table

ATTENTION, DECODE = "attention", "attention_decode"


def table_of(records: Sequence[Record], capability: tuple[int, int] | None = None) -> Table:
    """All that the records have; `capability` is that of the GPU, where its name says none."""
    return Table(
        tuple(runs_of(records, ATTENTION)),
        tuple(cells_of(records, capability)),
        tuple(runs_of(records, DECODE)),
        tuple(decode_cells_of(records, capability)),
    )


def cells_of(records: Sequence[Record], capability: tuple[int, int] | None = None) -> list[Cell]:
    """A cell for every problem that one of the backends has a time for."""
    by_rung = {rung: (way, backend) for way, rungs in RUNGS.items() for backend, rung in rungs.items()}
    cells: dict[tuple[Any, ...], dict[str, float]] = {}
    for record, gpu, microseconds in _timed(records, ATTENTION):
        if record.implementation not in by_rung:
            continue
        direction, backend = by_rung[record.implementation]
        given = record.parameters
        problem = direction, given["dim"], given["causal"], given["sequence"], *_batch_and_heads(record)
        cells.setdefault((gpu, *problem), {})[backend] = microseconds
    return [
        Cell(
            capability=capability or _capability(gpu),
            direction=direction,
            dim=dim,
            causal=causal,
            sequence=sequence,
            batch=batch,
            heads=heads,
            microseconds=times,
            gpu=gpu,
        )
        for (gpu, direction, dim, causal, sequence, batch, heads), times in _sorted(cells)
    ]


def decode_cells_of(records: Sequence[Record], capability: tuple[int, int] | None = None) -> list[DecodeCell]:
    """A cell for every step that one of the backends has a time for."""
    by_rung = {rung: backend for backend, rung in DECODE_RUNGS.items()}
    cells: dict[tuple[Any, ...], dict[str, float]] = {}
    for record, gpu, microseconds in _timed(records, DECODE):
        if record.implementation not in by_rung:
            continue
        given = record.parameters
        page_size = int(given["layout"].rpartition(" ")[2]) if given["layout"] != "dense" else 0
        # Records that do not say it are of the ladder's own steps, which have one.
        dim = given.get("dim", DECODE_DIM)
        problem = page_size, given["batch"], given["keys"], given["heads"], given["kv_heads"], dim
        cells.setdefault((gpu, *problem), {})[by_rung[record.implementation]] = microseconds
    return [
        DecodeCell(
            capability=capability or _capability(gpu),
            batch=batch,
            keys=keys,
            heads=heads,
            kv_heads=kv_heads,
            dim=dim,
            page_size=page_size,
            microseconds=times,
            gpu=gpu,
        )
        for (gpu, page_size, batch, keys, heads, kv_heads, dim), times in _sorted(cells)
    ]


def _sorted(cells: dict[tuple[Any, ...], dict[str, float]]) -> list[tuple[tuple[Any, ...], dict[str, float]]]:
    return sorted(cells.items(), key=lambda cell: cell[0])


def _timed(records: Sequence[Record], ladder: str) -> Iterator[tuple[Record, str, float]]:
    """(record, GPU, µs) of what has a time on a GPU."""
    for record in newest([record for record in records if record.ladder == ladder]):
        if record.time and record.environment.gpu:
            yield record, record.environment.gpu, record.time.median * 1e6


def _batch_and_heads(record: Record) -> tuple[int, int]:
    """Only the case's name says them: `forward 4 × 4096 × 16 × 128 causal bfloat16`."""
    named = re.search(r"(\d+) × \d+ × (\d+) × \d+", record.case)
    if named is None:
        raise FlashpathError("bench.no-batch", case=record.case)
    return int(named[1]), int(named[2])


def runs_of(records: Sequence[Record], ladder: str = ATTENTION) -> list[str]:
    """The machines and the software that the records were made with, in words."""
    used = [
        record for record in records if record.ladder == ladder and record.time and record.environment.gpu
    ]
    runs: dict[str, None] = {}
    for record in used:
        environment, versions = record.environment, record.environment.versions or {}
        named = [f"{name} {versions[name]}" for name in ("torch", "triton", "cuda") if versions.get(name)]
        commit = [f"commit {environment.commit[:10]}"] if environment.commit else []
        runs[", ".join([environment.gpu or "", record.timestamp[:10], *named, *commit])] = None
    return list(runs)


def _capability(name: str) -> tuple[int, int]:
    gpu = gpus.match_device_name(name) or next(
        (gpu for gpu in reversed(gpus.gpus()) if gpu.name in name), None
    )
    if gpu is None:
        raise FlashpathError("bench.no-capability", gpu=name)
    return gpu.capability
