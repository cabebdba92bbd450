"""Files of records: lines that a benchmark adds as it goes, and whole runs that are kept."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable
from pathlib import Path

from flashpath.bench import stored_run
from flashpath.bench.record import Record
from flashpath.errors import FlashpathError


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
        return stored_run.is_document(file.readline().decode(errors="replace"))


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
    if stored_run.is_document(text.partition("\n")[0]):
        return _read_whole_run(path, text)
    return _read_lines(path, text)


def _read_whole_run(path: str | os.PathLike[str], text: str) -> list[Record]:
    try:
        return stored_run.read(text)
    except (ValueError, TypeError, LookupError, FlashpathError) as error:
        missing = "it lacks " if isinstance(error, LookupError) else ""
        raise FlashpathError(
            f"{path} is no whole run of a benchmark: {missing}{error}",
            "Take the run over anew: python benchmarks/report.py --run <gpu>.jsonl",
        ) from None


def _read_lines(path: str | os.PathLike[str], text: str) -> list[Record]:
    records: list[Record] = []
    # Not splitlines(): it also splits at characters that may stand inside a JSON string.
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            records.append(Record.from_json(line))
        except (ValueError, TypeError, FlashpathError) as error:
            raise FlashpathError(
                f"{path}, line {number}, is no benchmark record: {error}", "Repair or delete that line."
            ) from None
    return records
