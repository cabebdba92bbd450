"""Nsight Systems: when each copy, fill and kernel of a program ran."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from flashpath.bench.nsight.compute import Dim3
from flashpath.bench.nsight.session import Problem, Session
from flashpath.messages import say
from flashpath.vgpu.device import engine

_COPIES = {
    1: "copy, host to device",
    2: "copy, device to host",
    8: "copy, device to device",
    9: "copy, host to host",
    10: "copy, GPU to GPU",
    11: "migration, host to device",
    12: "migration, device to host",
}
_TABLE = "CUPTI_ACTIVITY_KIND_"


@dataclass(frozen=True)
class Activity:
    """Something that the GPU did, from `begin` on, in seconds after the first of them."""

    kind: Literal["kernel", "copy", "fill"]
    name: str
    device: int
    stream: int
    begin: float
    seconds: float
    bytes: int | None = None
    grid: Dim3 = (1, 1, 1)
    block: Dim3 = (1, 1, 1)


def record_timeline(nsys: Path, session: Session) -> tuple[list[Activity], Problem | None]:
    """Run the program under nsys."""
    output = session.folder / "timeline"
    command = [str(nsys), "profile", f"--output={output}", "--force-overwrite=true", "--export=sqlite"]
    # Kernels of a graph are shown one by one; the host's threads are not looked at.
    command += ["--trace=cuda", "--cuda-graph-trace=node", "--sample=none", "--cpuctxsw=none"]
    run = session.run_under(command, "nsys", own_output=True)
    if run.ended_by_us:
        return [], Problem("nsys", say("bench.nsight-nsys-ended"))
    database = output.with_suffix(".sqlite")
    if not database.is_file():
        # Progress bars overwrite themselves: what stands after the last return is what is seen.
        lines = [line.split("\r")[-1].strip() for line in run.log.splitlines()]
        said = next((line for line in reversed(lines) if "error" in line.lower()), None)
        last = said or next((line for line in reversed(lines) if line), say("bench.nsight-silent"))
        return [], Problem(
            "nsys",
            say("bench.nsight-no-report", why=last),
            say("bench.nsight-systems-itself"),
        )
    try:
        return read_activities(database), None
    except sqlite3.Error as error:
        return [], Problem("nsys", say("bench.nsight-unreadable", why=error))


def read_activities(database: Path) -> list[Activity]:
    """All that the GPU did, in the order in which it began. Tables that nothing went into do not exist."""
    with contextlib.closing(sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro", uri=True)) as opened:
        opened.row_factory = sqlite3.Row
        there = {row["name"] for row in opened.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        rows = {
            kind: list(opened.execute(f"SELECT * FROM {_TABLE}{kind}"))
            for kind in ("KERNEL", "MEMCPY", "MEMSET")
            if _TABLE + kind in there
        }
        texts: dict[int, str] = {}
        if "StringIds" in there:
            texts = {row["id"]: row["value"] for row in opened.execute("SELECT id, value FROM StringIds")}
    first = min((row["start"] for of_kind in rows.values() for row in of_kind), default=0)
    activities = [_activity(kind, row, texts, first) for kind, of_kind in rows.items() for row in of_kind]
    return sorted(activities, key=lambda activity: activity.begin)


def _activity(kind: str, row: sqlite3.Row, texts: dict[int, str], first: int) -> Activity:
    where: dict[str, Any] = {
        "device": row["deviceId"],
        "stream": row["streamId"],
        "begin": (row["start"] - first) * 1e-9,
        "seconds": (row["end"] - row["start"]) * 1e-9,
    }
    if kind == "MEMCPY":
        return Activity("copy", _COPIES.get(row["copyKind"], "copy"), bytes=row["bytes"], **where)
    if kind == "MEMSET":
        return Activity("fill", "fill", bytes=row["bytes"], **where)
    name = next(
        texts[row[column]]
        for column in ("mangledName", "demangledName", "shortName")
        if column in row.keys() and row[column] in texts  # noqa: SIM118 - of a Row `in` asks for values
    )
    extents = {what: (row[f"{what}X"], row[f"{what}Y"], row[f"{what}Z"]) for what in ("grid", "block")}
    return Activity("kernel", engine().kernel_name(name), **extents, **where)


def trace_of(activities: Sequence[Activity], gpu: str) -> dict[str, Any]:
    """The timeline in Chrome's trace format, laid out as that of the virtual GPU."""
    return {
        "displayTimeUnit": "ns",
        "otherData": {"gpu": gpu, "times": "measured by Nsight Systems", "measured_by": "Nsight Systems"},
        "traceEvents": [*_rows(activities), *map(_event, activities)],
    }


def _rows(activities: Sequence[Activity]) -> Iterator[dict[str, Any]]:
    for device, stream in sorted({(activity.device, activity.stream) for activity in activities}):
        name = {"name": f"stream {stream}"}
        yield {"ph": "M", "name": "thread_name", "pid": device, "tid": stream, "args": name}


def _event(activity: Activity) -> dict[str, Any]:
    details: dict[str, Any] = {} if activity.bytes is None else {"bytes": activity.bytes}
    if activity.kind == "kernel":
        details |= {"grid": list(activity.grid), "block": list(activity.block)}
    return {
        "ph": "X",
        "name": activity.name,
        "cat": activity.kind,
        "pid": activity.device,
        "tid": activity.stream,
        "ts": round(activity.begin * 1e6, 6),
        "dur": round(activity.seconds * 1e6, 6),
        "args": details,
    }
