"""The error of a file under `course/`: which file, which key, what is wrong, what to write."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path

from flashpath.errors import FlashpathError


class ContentError(FlashpathError):
    """A file of the course says something that cannot be."""

    def __init__(self, file: Path, key: str | None, wrong: str, write: str | None = None) -> None:
        place = f"{shown(file)}: {key}" if key else shown(file)
        super().__init__(f"{place}: {wrong}", write)
        self.file = file
        self.key = key


class UnknownName(FlashpathError):
    """There is no unit, exercise, track or resource of that name."""

    def __init__(self, what: str, name: str, known: Iterable[str], fix: str = "") -> None:
        super().__init__(
            f"There is no {what} {name!r}.", " ".join(filter(None, (did_you_mean(name, known), fix)))
        )


def shown(file: Path) -> str:
    """The file as an author calls it: from `units/` or `tracks/` on."""
    parts = file.parts
    for start in range(len(parts) - 1, -1, -1):
        if parts[start] in ("units", "tracks"):
            return "/".join(parts[start:])
    return file.name


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Names near the one given; where there are few, all of them."""
    every = list(known)
    near = difflib.get_close_matches(name, every, cutoff=0.5) or [
        each for each in every if name and name in each
    ]
    if near:
        return f"Did you mean {' or '.join(near[:3])}?"
    return f"There {'is' if len(every) == 1 else 'are'}: {', '.join(every)}." if 0 < len(every) <= 16 else ""
