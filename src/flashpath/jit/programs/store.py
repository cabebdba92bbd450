"""Finds a program in the cache without starting a compiler.

Which files a program is made from is known only once it was compiled. So a note is kept for every recipe: the
files that were read, as they were, and the entry that came of them. The last few versions are kept, so that
undoing an edit finds the program from before it.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flashpath.jit.cache import KernelCache
from flashpath.jit.programs.dependencies import Snapshot
from flashpath.jit.programs.recipe import Recipe

EXECUTABLE = "program"
LOG = "compiler.log"

_VERSIONS = 8  # of one recipe's files
_MOST_NOTES = 1000  # the least recently written go first


@dataclass(frozen=True)
class Program:
    """An executable on disk. `log` is what the compilers said; `built` whether they said it just now."""

    recipe: Recipe
    path: Path
    log: str
    built: bool
    keeper: tempfile.TemporaryDirectory[str] | None = None  # its folder, where the cache cannot be written


def find(recipe: Recipe, cache: KernelCache) -> Program | None:
    """The program, if the cache has it and nothing that went into it has changed."""
    for version in _versions(_note(recipe, cache)):
        with contextlib.suppress(KeyError, TypeError, ValueError):  # a damaged note is no note
            if Snapshot.from_json(version).holds() and (entry := cache.load(version["entry"])):
                log = entry.files[LOG].decode(errors="replace")
                return Program(recipe, cache.folder_of(entry.key) / EXECUTABLE, log, built=False)
    return None


def keep(
    recipe: Recipe,
    cache: KernelCache,
    snapshot: Snapshot,
    build: Mapping[str, Any],
    files: Mapping[str, bytes],
    *,
    remember: bool,
) -> Program:
    """Put what was built into the cache; `remember` it unless it may have been made from half an edit."""
    key = cache.key({**recipe.ingredients(), "read": snapshot.digests})
    log = files[LOG].decode(errors="replace")
    cache.store(key, build, files, executable=EXECUTABLE)
    path = cache.folder_of(key) / EXECUTABLE
    if not path.is_file():  # the cache cannot be written, and has said so
        keeper = tempfile.TemporaryDirectory(prefix="flashpath-program-")
        path = Path(keeper.name) / EXECUTABLE
        path.write_bytes(files[EXECUTABLE])
        path.chmod(0o755)
        return Program(recipe, path, log, built=True, keeper=keeper)
    if remember:
        with contextlib.suppress(OSError):
            _remember(_note(recipe, cache), {"entry": key, **snapshot.to_json()})
    return Program(recipe, path, log, built=True)


def _note(recipe: Recipe, cache: KernelCache) -> Path:
    return cache.index / f"{cache.key(recipe.ingredients())}.json"


def _versions(note: Path) -> list[dict[str, Any]]:
    """Returns what the note says, the latest first; nothing where it is missing or damaged."""
    versions: list[Any] = []
    with contextlib.suppress(OSError, ValueError, TypeError):
        versions = list(json.loads(note.read_bytes()))
    return [each for each in versions if isinstance(each, dict)]


def _remember(note: Path, version: Mapping[str, Any]) -> None:
    """Written aside and renamed: a reader sees the old note or the new one."""
    others = [each for each in _versions(note) if each.get("entry") != version["entry"]]
    note.parent.mkdir(parents=True, exist_ok=True)
    temporary = note.with_name(f"{os.getpid()}-{uuid.uuid4().hex}.tmp")
    try:
        temporary.write_text(json.dumps([version, *others][:_VERSIONS], ensure_ascii=True))
        temporary.replace(note)
    finally:
        temporary.unlink(missing_ok=True)
    notes = sorted(note.parent.iterdir(), key=_written)
    for each in notes[:-_MOST_NOTES]:
        each.unlink(missing_ok=True)


def _written(note: Path) -> float:
    try:
        return note.stat().st_mtime
    except OSError:
        return 0.0  # gone meanwhile
