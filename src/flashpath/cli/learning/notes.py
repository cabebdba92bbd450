"""Where the notes of a work folder lie, and which of them are written."""

from __future__ import annotations

import functools
import tomllib
from pathlib import Path
from typing import Any, cast

from flashpath.course.notes import is_written

_DOCTOR = "`flashpath doctor`"  # the note on the environment is written by it
_FOLDERS = {"en": "notes", "zh": "笔记"}


def place_of(root: Path, name: str, lang: str) -> Path:
    """The file of a note: as flashpath.toml says, or one of that name among the notes, there or new."""
    listed = _listed(root)
    if name in listed:
        return root / listed[name]
    for folder in _folders(root):
        if (folder / f"{name}.md").exists():
            return folder / f"{name}.md"
    return root / _FOLDERS[lang] / f"{name}.md"


def list_notes(root: Path) -> list[tuple[Path, bool]]:
    """Every note that is there, and whether somebody wrote in it."""
    files = {root / each for each in _listed(root).values()}
    files |= {file for folder in _folders(root) for file in folder.rglob("*.md")}
    return [(file, _is_written(file)) for file in sorted(files) if file.is_file()]


def written_notes(root: Path) -> frozenset[str]:
    """The names of the notes that are written, as tasks of a track name them."""
    listed = _listed(root)
    names = {name for name, path in listed.items() if _is_written(root / path)}
    known = {root / path for path in listed.values()}
    names |= {file.stem for file, written in list_notes(root) if written and file not in known}
    return frozenset(names)


def _folders(root: Path) -> list[Path]:
    """Folders of notes: the work folder's own, and those of its weeks."""
    return [
        each for name in _FOLDERS.values() for each in (root / name, *root.glob(f"*/{name}")) if each.is_dir()
    ]


@functools.cache
def _listed(root: Path) -> dict[str, str]:
    """The table [notes] of flashpath.toml: name = path from the root."""
    try:
        table = tomllib.loads((root / "flashpath.toml").read_text(encoding="utf-8-sig"))
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError):
        return {}
    notes = cast("dict[str, Any]", table.get("notes") or {})
    return {name: path for name, path in notes.items() if isinstance(path, str)}


def _is_written(file: Path) -> bool:
    try:
        text = file.read_text(encoding="utf-8-sig", errors="replace")
    except OSError:
        return False
    return is_written(text) or _DOCTOR in text
