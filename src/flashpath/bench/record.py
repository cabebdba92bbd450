"""The one record format: a measurement of one implementation on one case, as a line of JSON."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, is_dataclass
from pathlib import Path
from types import UnionType
from typing import Any, cast, get_args, get_origin, get_type_hints

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
    `distance` is the largest one from the result in float64, in units of that result's largest element.
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
    distance: float | None = None
    ratio_to_fastest_peer: float | None = None
    fraction_of_ceiling: float | None = None
    ceiling: str | None = None
    lines_of_code: int | None = None
    dev_hours: float | None = None
    portability: Sequence[str] | None = None
    readability: Score | None = None
    debugging: Score | None = None
    error: str | None = None  # why there is no time; or, with a time, what a peer is less exact by
    skipped: bool = False  # it cannot run on this machine; `error` says why

    def to_json(self) -> str:
        # NaN is no JSON: other readers would refuse the line.
        return json.dumps(asdict(self), ensure_ascii=False, allow_nan=False, default=str)

    @classmethod
    def from_json(cls, line: str) -> Record:
        fields: Any = json.loads(line)
        if not isinstance(fields, dict):
            raise TypeError(f"it should be a JSON object, but is {line[:40]!r}")
        return read_dataclass(cls, cast("dict[str, Any]", fields))


def read_dataclass(kind: type[Any], fields: Mapping[str, Any], inside: str = "") -> Any:
    """A dataclass of the fields of a JSON object; TypeError names the one that is of the wrong type."""
    hints = get_type_hints(kind)
    for name in fields:
        if name not in hints:
            raise TypeError(f"it has an unknown field {inside + name!r}")
    return kind(**{name: read_value(value, hints[name], inside + name) for name, value in fields.items()})


def read_value(value: Any, hint: Any, name: str) -> Any:
    """The value where it is of the type that the hint says; a dataclass is made of a JSON object."""
    for choice in get_args(hint) if isinstance(hint, UnionType) else (hint,):
        kind = get_origin(choice) or choice
        if kind is Any:
            return value
        if is_dataclass(kind) and isinstance(value, dict):
            return read_dataclass(cast("type[Any]", kind), cast("dict[str, Any]", value), f"{name}.")
        if kind is Sequence and isinstance(value, list):
            return [read_value(item, get_args(choice)[0], name) for item in cast("list[Any]", value)]
        if kind is Mapping and isinstance(value, dict):
            items = cast("dict[str, Any]", value).items()
            return {key: read_value(item, get_args(choice)[1], f"{name}.{key}") for key, item in items}
        if isinstance(value, bool):  # which is an int to Python
            if kind is bool:
                return value
        elif kind in (str, int, float, type(None)) and isinstance(
            value, (int, float) if kind is float else kind
        ):
            return value
    expected = hint.__name__ if isinstance(hint, type) else str(hint)
    raise TypeError(f"{name} should be {expected}, but is {value!r}")


def require_appendable(path: str | os.PathLike[str]) -> None:
    """Raise FlashpathError where records could not be appended: before hours of timing, not after."""
    path = Path(path)
    folder = path.parent
    if path.is_dir():
        raise FlashpathError(f"{path} is a folder.", "Name a file in it, such as results.jsonl.")
    if not folder.is_dir():
        problem = f"{folder} is no folder" if folder.exists() else f"There is no folder {folder}"
        raise FlashpathError(f"{problem}, so {path.name} cannot be written there.", f"mkdir -p {folder}")
    try:
        _try_to_write(path)
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise FlashpathError(
            f"{path} cannot be written: {why}.", "Name a file in a folder of your own."
        ) from None
    if path.is_file() and _is_whole_run(path):
        raise FlashpathError(
            f"{path} holds a whole run as one JSON document, to which no record can be added.",
            "Name another file, such as results.jsonl.",
        )


def _try_to_write(path: Path) -> None:
    """Raise OSError where the file cannot be written; permissions alone do not tell it of every folder."""
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    if not path.exists():
        with path.open("xb"):
            pass
        path.unlink()


def _is_whole_run(path: Path) -> bool:
    with path.open("rb") as file:
        return file.readline() == b"[\n"


def append(path: str | os.PathLike[str], records: Iterable[Record]) -> None:
    """Add records to a file, whole lines or none: one write, taken back where the disk was full."""
    lines = "".join(record.to_json() + "\n" for record in records).encode()
    try:
        append_bytes(Path(path), lines)
    except OSError as error:
        raise FlashpathError(
            f"The records could not be written to {path}: {error.strerror or error}.",
            "Name a file that can be written, on a disk with space left.",
        ) from None


def append_bytes(path: Path, lines: bytes) -> None:
    with path.open("a+b", buffering=0) as file:
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


def write_run(path: Path, records: Iterable[Record]) -> None:
    """A whole run as one JSON document, a record to a line; it takes the place of the run before."""
    lines = ",\n".join(record.to_json() for record in records)
    path.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def load_runs(folder: Path) -> list[Record]:
    """The records of every `<machine>.json`; files with a dash in their name hold figures of other kinds."""
    files = [file for file in sorted(folder.glob("*.json")) if "-" not in file.stem]
    return [record for file in files for record in load(file)]


def load(path: str | os.PathLike[str]) -> list[Record]:
    """All records of a file: one to a line, as a benchmark adds them, or a whole run as one JSON document."""
    records: list[Record] = []
    try:
        # Not splitlines(): it also splits at characters that may stand inside a JSON string.
        lines = Path(path).read_text(encoding="utf-8").split("\n")
    except FileNotFoundError:
        raise FlashpathError(
            f"There is no file {path}.", "Run a benchmark first; it writes its records there."
        ) from None
    except OSError as error:
        raise FlashpathError(
            f"{path} cannot be read: {error.strerror or error}.", "Name a file of records."
        ) from None
    except UnicodeDecodeError as error:
        raise FlashpathError(
            f"{path} is not UTF-8 text: byte {error.start} cannot be read.",
            "Name a file that a benchmark wrote; it is not compressed.",
        ) from None
    is_whole_run = lines[0] == "["
    for number, line in enumerate(lines, start=1):
        if is_whole_run:
            line = line.removesuffix(",")
            if line in "[]":
                continue
        if not line.strip():
            continue
        try:
            records.append(Record.from_json(line))
        except (ValueError, TypeError, FlashpathError) as error:
            raise FlashpathError(
                f"{path}, line {number}, is no benchmark record: {error}", "Repair or delete that line."
            ) from None
    return records
