"""Records of the attention ladder as the cells that `fp.attention` chooses its rungs by."""

from __future__ import annotations

from collections.abc import Sequence

from flashpath import gpus
from flashpath.bench.record import Record
from flashpath.bench.report import newest
from flashpath.errors import FlashpathError
from flashpath.kernels.attention.dispatch_table import RUNGS, Cell


def cells_of(records: Sequence[Record], capability: tuple[int, int] | None = None) -> list[Cell]:
    """A cell for every problem that one of the backends has a time for.

    `capability` is that of the GPU, where its name says none.
    """
    by_rung = {rung: (way, backend) for way, rungs in RUNGS.items() for backend, rung in rungs.items()}
    times: dict[tuple[str, str, int, bool, int], dict[str, float]] = {}
    for record in newest([each for each in records if each.ladder == "attention"]):
        if record.implementation not in by_rung or not record.time or not record.environment.gpu:
            continue
        direction, backend = by_rung[record.implementation]
        given = record.parameters
        key = record.environment.gpu, direction, given["dim"], given["causal"], given["sequence"]
        times.setdefault(key, {})[backend] = record.time.median * 1e6
    return [
        Cell(capability or _capability(gpu), direction, dim, causal, sequence, found, gpu)
        for (gpu, direction, dim, causal, sequence), found in sorted(times.items(), key=lambda each: each[0])
    ]


def runs_of(records: Sequence[Record]) -> list[str]:
    """The machines and the software that the records were made with, in words."""
    used = [each for each in records if each.ladder == "attention" and each.time and each.environment.gpu]
    runs: dict[str, None] = {}
    for record in used:
        environment, versions = record.environment, record.environment.versions or {}
        named = [f"{name} {versions[name]}" for name in ("torch", "triton", "cuda") if versions.get(name)]
        commit = [f"commit {environment.commit[:10]}"] if environment.commit else []
        runs[", ".join([environment.gpu or "", record.timestamp[:10], *named, *commit])] = None
    return list(runs)


def _capability(name: str) -> tuple[int, int]:
    found = gpus.match_device_name(name) or next(
        (gpu for gpu in reversed(gpus.gpus()) if gpu.name in name), None
    )
    if found is None:
        raise FlashpathError(
            f"The compute capability of {name!r} is not known here.", "Give it: --capability 9.0."
        )
    return found.capability
