"""Which files a program was made from, and whether they are still what they were.

A compiler reads a hundred headers for the smallest program. Their sizes and times are compared first, in a
millisecond; only what looks changed is read and its digest compared.
"""

from __future__ import annotations

import hashlib
import os
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

# A file written this short a time before it was looked at may be written again without its time changing.
_SETTLED_NS = 2_000_000_000


def read_makefile(text: str) -> list[str]:
    """The files in the rule that `-MD` writes: `object : source header …`, lines joined by backslashes."""
    _, _, after = text.replace("\\\r\n", " ").replace("\\\n", " ").partition(" :")
    words = re.findall(r"(?:\\.|[^\s\\])+", after)
    return [re.sub(r"\\([ #\\:])", r"\1", word).replace("$$", "$") for word in words]


def hidden_by(read: Iterable[Path], folders: Sequence[Path]) -> list[str]:
    """Paths where no file is now; one that appears there would be included instead of one that was read."""
    in_front: dict[str, None] = {}
    for path in read:
        holding = [at for at, folder in enumerate(folders) if path.is_relative_to(folder)]
        for at in holding:
            name = path.relative_to(folders[at])
            in_front |= dict.fromkeys(str(each / name) for each in folders[:at])
        if not holding:  # a header of the system's or of CUDA's
            in_front |= dict.fromkeys(str(each / path.name) for each in folders)
    return [each for each in in_front if not os.path.lexists(each)]


class Snapshot:
    """Files as they were at one moment: path → size, time, digest."""

    def __init__(self, files: Mapping[str, Sequence[Any]], absent: Sequence[str], taken_ns: int) -> None:
        self.files = files
        self.absent = absent
        self.taken_ns = taken_ns

    @staticmethod
    def take(paths: Iterable[Path], absent: Sequence[str]) -> Snapshot:
        taken = time.time_ns()
        files = {str(path): [*_stamp(path), digest(path)] for path in sorted(set(paths))}
        return Snapshot(files, absent, taken)

    @staticmethod
    def from_json(value: Mapping[str, Any]) -> Snapshot:
        return Snapshot(value["files"], value["absent"], value["taken_ns"])

    def to_json(self) -> dict[str, Any]:
        return {"files": self.files, "absent": self.absent, "taken_ns": self.taken_ns}

    @property
    def digests(self) -> dict[str, str]:
        return {path: entry[2] for path, entry in self.files.items()}

    def changed_since(self, start_ns: int) -> list[str]:
        """Files written after `start_ns`, while a compiler may have been reading them."""
        return [path for path, (_, time_ns, _) in self.files.items() if start_ns <= time_ns <= self.taken_ns]

    def holds(self) -> bool:
        """Whether every file is what it was, and none has appeared in front of another."""
        if any(os.path.lexists(each) for each in self.absent):
            return False
        try:
            return all(self._is_same(path, *entry) for path, entry in self.files.items())
        except OSError:
            return False

    def _is_same(self, path: str, size: int, time_ns: int, was: str) -> bool:
        status = os.stat(path)  # noqa: PTH116 - a Path for each of a thousand headers takes longer
        if status.st_size != size:
            return False
        if status.st_mtime_ns == time_ns and time_ns < self.taken_ns - _SETTLED_NS:
            return True
        return digest(Path(path)) == was


def _stamp(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_size, status.st_mtime_ns


def digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
