"""The one record format: a measurement of one implementation on one case, as a line of JSON."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

from flashpath.bench.environment import Environment
from flashpath.bench.timer import Timing
from flashpath.errors import FlashpathError
from flashpath.kernels.rung import Score


@dataclass(frozen=True)
class Time:
    """Seconds of one call, how they were taken and from how many samples."""

    median: float
    p20: float
    p80: float
    method: str
    samples: int

    @classmethod
    def of(cls, timing: Timing) -> Time | None:
        if timing.median is None or timing.p20 is None or timing.p80 is None:
            return None
        return cls(timing.median, timing.p20, timing.p80, timing.method, len(timing.samples))


@dataclass(frozen=True)
class Record:
    """One implementation on one case: how fast, how close to the best, and what it cost to write.

    `ratio_to_fastest_peer` is the peer's time over this one's: above 1 is faster than every peer.
    `fraction_of_ceiling` is the least time that the measured `ceiling` allows over the time taken.
    """

    implementation: str
    case: str
    environment: Environment
    timestamp: str
    parameters: Mapping[str, Any]
    ladder: str | None = None
    language: str | None = None
    is_peer: bool = False
    time: Time | None = None
    gb_per_s: float | None = None
    tflop_per_s: float | None = None
    peak_memory_bytes: int | None = None
    ratio_to_fastest_peer: float | None = None
    fraction_of_ceiling: float | None = None
    ceiling: str | None = None
    lines_of_code: int | None = None
    dev_hours: float | None = None
    portability: Sequence[str] | None = None
    readability: Score | None = None
    debugging: Score | None = None
    error: str | None = None

    def to_json(self) -> str:
        # NaN is no JSON: other readers would refuse the line.
        return json.dumps(asdict(self), ensure_ascii=False, allow_nan=False, default=str)

    @classmethod
    def from_json(cls, line: str) -> Record:
        fields: Any = json.loads(line)
        if not isinstance(fields, dict):
            raise TypeError(f"it should be a JSON object, but is {line[:40]!r}")
        values = cast("dict[str, Any]", fields)
        nested: dict[str, type[Any]] = {
            "environment": Environment,
            "time": Time,
            "readability": Score,
            "debugging": Score,
        }
        for name, kind in nested.items():
            if values.get(name) is not None:
                values[name] = kind(**values[name])
        return cls(**values)


def append(path: str | os.PathLike[str], records: Iterable[Record]) -> None:
    """Add records to a file, whole lines or none: one write, taken back where the disk was full."""
    lines = "".join(record.to_json() + "\n" for record in records).encode()
    with Path(path).open("a+b", buffering=0) as file:
        end = file.seek(0, os.SEEK_END)
        if end:
            file.seek(end - 1)
            if file.read(1) != b"\n":  # an editor took the last newline away
                lines = b"\n" + lines
        written = file.write(lines)
        if written != len(lines):
            file.truncate(end)
            raise FlashpathError(
                f"Only {written} of {len(lines)} bytes could be written to {path}.",
                "Free some disk space; the file was left as it was.",
            )
        os.fsync(file.fileno())


def load(path: str | os.PathLike[str]) -> list[Record]:
    """All records of a file."""
    records: list[Record] = []
    try:
        # Not splitlines(): it also splits at characters that may stand inside a JSON string.
        lines = Path(path).read_text(encoding="utf-8").split("\n")
    except FileNotFoundError:
        raise FlashpathError(
            f"There is no file {path}.", "Run a benchmark first; it writes its records there."
        ) from None
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            records.append(Record.from_json(line))
        except (ValueError, TypeError, FlashpathError) as error:
            raise FlashpathError(
                f"{path}, line {number}, is no benchmark record: {error}", "Repair or delete that line."
            ) from None
    return records
