"""Files of records: lines that a benchmark adds as it goes, and whole runs that are kept."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable
from pathlib import Path

from flashpath.bench import stored_run
from flashpath.bench.record import Record
from flashpath.errors import FlashpathError
from flashpath.messages import Message


def require_appendable(path: str | os.PathLike[str]) -> None:
    """Raise FlashpathError where records could not be appended: before hours of timing, not after."""
    path = Path(path)
    folder = path.parent
    if path.is_dir():
        raise FlashpathError("bench.is-folder", path=path)
    if not folder.is_dir():
        if folder.exists():
            raise FlashpathError("bench.not-a-folder", folder=folder, file=path.name)
        raise FlashpathError("bench.no-folder", folder=folder, file=path.name)
    try:
        _try_to_write(path)
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise FlashpathError("bench.cannot-write", path=path, why=why) from None
    if path.is_file() and _is_whole_run(path):
        raise FlashpathError("bench.whole-run", path=path)


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
        return stored_run.is_document(file.readline().decode(errors="replace"))


def append(path: str | os.PathLike[str], records: Iterable[Record]) -> None:
    """Add records to a file, whole lines or none: one write, taken back where the disk was full."""
    lines = "".join(record.to_json() + "\n" for record in records).encode()
    try:
        append_bytes(Path(path), lines)
    except OSError as error:
        raise FlashpathError(
            "bench.records-not-written", path=path, why=error.strerror or str(error)
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
            raise FlashpathError("bench.disk-full", path=path, written=written, count=len(lines))
        os.fsync(file.fileno())


def write_run(path: Path, records: Iterable[Record]) -> None:
    """A whole run as one JSON document; it takes the place of the run before."""
    path.write_text(stored_run.write(records), encoding="utf-8")


def load_runs(folder: Path) -> list[Record]:
    """The records of every `<machine>.json`; files with a dash in their name hold figures of other kinds."""
    files = [file for file in sorted(folder.glob("*.json")) if "-" not in file.stem]
    return [record for file in files for record in load(file)]


def load(path: str | os.PathLike[str]) -> list[Record]:
    """All records of a file: one to a line, as a benchmark adds them, or a whole run as one JSON document."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise FlashpathError("bench.no-records", path=path) from None
    except OSError as error:
        raise FlashpathError("bench.cannot-read", path=path, why=error.strerror or str(error)) from None
    except UnicodeDecodeError as error:
        raise FlashpathError("bench.not-utf8", path=path, byte=error.start) from None
    if stored_run.is_document(text.partition("\n")[0]):
        return _read_whole_run(path, text)
    return _read_lines(path, text)


def _read_whole_run(path: str | os.PathLike[str], text: str) -> list[Record]:
    try:
        return stored_run.read(text)
    except (ValueError, TypeError, LookupError, FlashpathError) as error:
        raise FlashpathError("bench.not-a-run", path=path, why=_why(error)) from None


def _read_lines(path: str | os.PathLike[str], text: str) -> list[Record]:
    records: list[Record] = []
    # Not splitlines(): it also splits at characters that may stand inside a JSON string.
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            records.append(Record.from_json(line))
        except (ValueError, TypeError, FlashpathError) as error:
            raise FlashpathError("bench.not-a-record", path=path, line=number, why=_why(error)) from None
    return records


def _why(error: Exception) -> Message | str:
    if isinstance(error, FlashpathError):
        return error.said
    return Message("bench.lacks", {"what": str(error)}) if isinstance(error, LookupError) else str(error)
