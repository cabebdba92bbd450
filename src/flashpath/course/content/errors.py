"""The error of a file under `course/`: which file, which key, what is wrong, what to write."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from flashpath.errors import FlashpathError


class ContentError(FlashpathError):
    """A file of the course says something that cannot be."""

    def __init__(self, code: str, file: Path, key: str | None, /, **params: Any) -> None:
        super().__init__(code, place=f"{shown(file)}: {key}" if key else shown(file), **params)
        self.file = file


class UnknownName(FlashpathError):
    """There is no unit, exercise, track or resource of that name."""


def shown(file: Path) -> str:
    """The file as an author calls it: from `units/` or `tracks/` on."""
    parts = file.parts
    for start in range(len(parts) - 1, -1, -1):
        if parts[start] in ("units", "tracks"):
            return "/".join(parts[start:])
    return file.name
