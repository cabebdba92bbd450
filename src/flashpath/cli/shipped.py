"""Files that come with flashpath, by the paths that lessons and documents give them, from any folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from flashpath import settings
from flashpath.errors import FlashpathError


def shipped(file: Path) -> Path:
    """`programs/…` and `units/…` of the package where there is no such file here; else the file itself."""
    where = {"programs": "programs", "units": "course/units"}.get(file.parts[0] if file.parts else "")
    if where is None or file.exists():
        return file
    folder, _, rest = where.partition("/")
    try:
        own = settings.content_dir(folder).joinpath(rest, *file.parts[1:])
    except FlashpathError:
        return file
    return own if own.is_file() else file


def shipped_all(files: Sequence[Path]) -> list[Path]:
    return [shipped(each) for each in files]


def shipped_function(where: str) -> str:
    """`units/…/FILE.py:FUNCTION` likewise."""
    file, colon, function = where.rpartition(":")
    own = shipped(Path(file))
    return where if own == Path(file) else f"{own}{colon}{function}"
