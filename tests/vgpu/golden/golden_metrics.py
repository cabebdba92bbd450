"""Nsight Compute's metrics beside the virtual GPU's counters: its CSV, the golden file, the comparison."""

from __future__ import annotations

import csv
import functools
import itertools
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

GOLDEN = Path(__file__).parent / "h200.json"

_GLOBAL = "l1tex__t_{what}_pipe_lsu_mem_global_op_{operation}.sum"
_CONFLICTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{operation}.sum"

# Counters of a report, and the metric that each must equal.
EQUAL: dict[str, str] = {
    "global_load.requests": _GLOBAL.format(what="requests", operation="ld"),
    "global_load.sectors": _GLOBAL.format(what="sectors", operation="ld"),
    "global_store.requests": _GLOBAL.format(what="requests", operation="st"),
    "global_store.sectors": _GLOBAL.format(what="sectors", operation="st"),
    "shared_load.bank_conflicts": _CONFLICTS.format(operation="ld"),
    "shared_store.bank_conflicts": _CONFLICTS.format(operation="st"),
}

# Recorded as well: other ways to count the same, and what the virtual GPU counts in PTX.
ALSO: tuple[str, ...] = (
    *(
        _GLOBAL.format(what=what, operation=operation)
        for operation in ("red", "atom", "ldgsts", "ldgsts_cache_access", "ldgsts_cache_bypass")
        for what in ("requests", "sectors")
    ),
    *(
        f"l1tex__t_{what}_pipe_lsu_mem_local_op_{operation}.sum"
        for operation in ("ld", "st")
        for what in ("requests", "sectors")
    ),
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",
    *(_CONFLICTS.format(operation=operation) for operation in ("atom", "red", "ldgsts")),
    "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
    *(
        f"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{operation}.sum"
        for operation in ("ld", "st", "atom", "red", "ldgsts")
    ),
    *(
        f"smsp__sass_l1tex_data_{what}_mem_shared{operation}.sum"
        for what in ("bank_conflicts_pipe_lsu", "pipe_lsu_wavefronts")
        for operation in ("", "_op_ld", "_op_st", "_op_atom", "_op_ldsm", "_op_ldgsts")
    ),
    "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_ideal.sum",
    "memory_l1_wavefronts_shared",
    "memory_l1_wavefronts_shared_ideal",
    "derived__memory_l1_wavefronts_shared_excessive",
    "derived__memory_l1_conflicts_shared_nway",
    "memory_l2_theoretical_sectors_global",
    "memory_l2_theoretical_sectors_global_ideal",
    *(
        f"smsp__sass_inst_executed_op_{space}_{operation}.sum"
        for space in ("global", "shared", "local")
        for operation in ("ld", "st", "atom", "red")
    ),
    "smsp__inst_executed_op_ldsm.sum",
    "smsp__inst_executed_op_ldgsts.sum",
    "smsp__inst_executed.sum",
    "smsp__thread_inst_executed.sum",
    "smsp__thread_inst_executed_pred_on.sum",
    *(
        f"smsp__sass_thread_inst_executed_op_{operation}_pred_on.sum"
        for operation in ("ffma", "fadd", "fmul", "dfma", "dmul")
    ),
)

METRICS: tuple[str, ...] = (*EQUAL.values(), *ALSO)


def read_csv(text: str) -> list[tuple[str, dict[str, int]]]:
    """Kernel name and metrics of each launch, in order, from `ncu --csv --page raw --print-units base`.

    The profiler's own messages come before the header; under it stands a row of units.
    """
    lines = text.splitlines()
    starts = [number for number, line in enumerate(lines) if line.startswith('"ID"')]
    if not starts:
        raise ValueError("no CSV in the profiler's output:\n" + text[-2000:])
    table = itertools.takewhile(lambda line: line.startswith('"'), lines[starts[0] :])
    _, *rows = csv.DictReader(table)
    launches: list[tuple[str, dict[str, int]]] = []
    for row in rows:
        values = {name: number for name in METRICS if (number := _integer(row.get(name))) is not None}
        launches.append((row["Kernel Name"], values))
    return launches


def _integer(text: str | None) -> int | None:
    """A count, before what its instances counted; None where the profiler has none."""
    number = re.match(r"[\d,.]+", text or "")
    return None if number is None else round(float(number[0].replace(",", "")))


def write_golden(
    path: Path, machine: Mapping[str, str | None], cases: Mapping[str, Mapping[str, int]]
) -> None:
    """A line for each case, its values in the order of the metrics; metrics that nothing has are left out."""
    metrics = [name for name in METRICS if any(name in values for values in cases.values())]
    rows = [
        f"  {json.dumps(case)}: {json.dumps([values.get(name) for name in metrics])}"
        for case, values in cases.items()
    ]
    head = json.dumps({**machine, "metrics": metrics}, indent=1).removesuffix("\n}")
    path.write_text(f'{head},\n "cases": {{\n' + ",\n".join(rows) + "\n }\n}\n", encoding="utf-8")


def read_golden(path: Path) -> dict[str, Any]:
    """The machine that was measured, and under "cases" the metrics of each case."""
    record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    metrics = record.pop("metrics")
    record["cases"] = {
        case: {name: value for name, value in zip(metrics, values, strict=True) if value is not None}
        for case, values in record["cases"].items()
    }
    return record


def counted(report: Any) -> dict[str, int]:
    """The counters of a report that a metric must equal."""
    return {name: functools.reduce(getattr, name.split("."), report) for name in EQUAL}


def differences(
    report: Any, measured: Mapping[str, int], compared: Sequence[str] = tuple(EQUAL)
) -> list[str]:
    """What the virtual GPU counts otherwise than the hardware, one line for each counter."""
    own = counted(report)
    return [
        f"{name}: {own[name]:,}, but the GPU has {measured[EQUAL[name]]:,}"
        for name in compared
        if own[name] != measured[EQUAL[name]]
    ]
