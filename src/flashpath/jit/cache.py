"""A content-addressed store of compiled kernels and programs, safe for many processes at once.

An entry is a folder named by the digest of everything that went into it. It is written in a temporary
folder and renamed into place, so a reader sees all of it or none. Each file's digest stands in `build.json`:
an entry that was damaged on disk is noticed, dropped and built again. So nothing waits for the disk: what a
machine that loses its power had not written yet is damaged, and no more.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import time
import uuid
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flashpath import settings
from flashpath.errors import FlashpathError
from flashpath.jit.tally import Tally
from flashpath.messages import Message, say

_FORMAT = 3  # part of every key: raised when what an entry holds changes
_FILLED_AGAIN_TO = 0.9  # of the limit, once it was passed
_STALE_SECONDS = 3600.0  # a temporary folder this old belongs to a process that died


class _Changed(Exception):
    """Files of an entry are not what was written."""


class CacheWarning(UserWarning):
    """The cache cannot keep or read a kernel: it is compiled again, and nothing else changes."""


@dataclass(frozen=True)
class Entry:
    """One compiled source: `build` is build.json, `files` the artefacts by name."""

    key: str
    build: Mapping[str, Any]
    files: Mapping[str, bytes]


@dataclass(frozen=True)
class Summary:
    """An entry as `flashpath cache list` shows it."""

    key: str
    source: str
    arch: str
    kernels: tuple[str, ...]
    bytes: int
    built: float
    last_used: float


class KernelCache:
    """The cache in one folder."""

    def __init__(self, folder: Path | None = None, limit_bytes: int | None = None) -> None:
        self.folder = (folder or settings.cache_dir()) / "kernels"
        self.limit_bytes = settings.cache_limit_bytes() if limit_bytes is None else limit_bytes

    @property
    def _tally(self) -> Tally:
        return Tally(self.folder / "sizes")

    @property
    def index(self) -> Path:
        """Notes on which entry is whose, where finding that out takes a compiler; safe to lose."""
        return self.folder / "index"

    @staticmethod
    def key(ingredients: Mapping[str, Any]) -> str:
        """The digest of everything that decides what the compiler will write."""
        text = json.dumps({"format": _FORMAT, **ingredients}, sort_keys=True, ensure_ascii=True)
        return hashlib.sha256(text.encode()).hexdigest()

    # ---- Reading ---------------------------------------------------------------------------------------

    def load(self, key: str) -> Entry | None:
        """The entry, verified, or None. A damaged one is removed, with a warning."""
        folder = self.folder_of(key)
        try:
            build = _sealed(json.loads((folder / "build.json").read_bytes()))
            files = {name: (folder / name).read_bytes() for name in build["digests"]}
            damaged = [name for name, data in files.items() if _digest(data) != build["digests"][name]]
            if damaged or build["key"] != key:
                raise _Changed(*damaged or ("build.json",))
        except FileNotFoundError as error:
            if not folder.exists():
                return None
            self._discard(folder, Message("jit.file-is-missing", {"file": Path(error.filename).name}))
            return None
        except _Changed as error:
            self._discard(folder, Message("jit.file-changed", {"files": error.args}))
            return None
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            self._discard(folder, str(error))
            return None
        except OSError as error:
            _warn("jit.cache-unreadable", error=str(error))
            return None
        with contextlib.suppress(OSError):  # a read-only cache still serves
            os.utime(folder)  # the least recently used entry is evicted first
        return Entry(key, build, files)

    def _discard(self, folder: Path, why: Message | str) -> None:
        _warn("jit.cache-damaged", why=why, place=str(folder))
        self._remove(folder)

    # ---- Writing ---------------------------------------------------------------------------------------

    def store(
        self, key: str, build: Mapping[str, Any], files: Mapping[str, bytes], executable: str | None = None
    ) -> Entry:
        """Write an entry; a cache that cannot be written to costs a warning, never the result.

        `executable` names the file that is to be run from where it lies.
        """
        complete = {**build, "key": key, "digests": {name: _digest(data) for name, data in files.items()}}
        try:
            size = self._write(key, complete, files, executable)
            total = self._tally.add(size)
            if total is None or total > self.limit_bytes:
                self._evict(keep=key)
            self._sweep()
        except OSError as error:
            folder, variable = str(self.folder), settings.CACHE_DIR.name
            _warn("jit.cache-read-only", folder=folder, error=str(error), variable=variable)
        return Entry(key, complete, files)

    def _write(
        self, key: str, build: Mapping[str, Any], files: Mapping[str, bytes], executable: str | None
    ) -> int:
        """Returns how many bytes that is."""
        temporary = self._temporary()
        temporary.mkdir(parents=True)
        try:
            for name, data in files.items():
                _write_new(temporary / name, data)
                if name == executable:
                    (temporary / name).chmod(0o755)
            text = json.dumps({**build, "seal": _seal(build)}, indent=1, ensure_ascii=False).encode()
            _write_new(temporary / "build.json", text)
            folder = self.folder_of(key)
            folder.parent.mkdir(parents=True, exist_ok=True)
            try:
                temporary.rename(folder)
            except OSError:
                if not (folder / "build.json").exists():
                    raise
                # Another process was first: its entry holds the same.
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
        return len(text) + sum(map(len, files.values()))

    def _evict(self, keep: str) -> None:
        """Looks at all entries, which takes long where there are thousands. So where there are too many, some
        more go than have to, and the next stores need not look."""
        entries = [(_modified(folder), _size(folder), folder) for folder in self._folders()]
        total = sum(size for _, size, _ in entries)
        bound = self.limit_bytes if total <= self.limit_bytes else _FILLED_AGAIN_TO * self.limit_bytes
        for _, size, folder in sorted(entries, key=lambda entry: entry[0]):
            if total <= bound:
                break
            if folder.name != keep:
                self._remove(folder)
                total -= size
        self._tally.restart(total)

    def _sweep(self) -> None:
        """Removes what processes left that died while they were writing."""
        for leftover in (self.folder / "tmp").glob("*"):
            if time.time() - _modified(leftover) > _STALE_SECONDS:
                shutil.rmtree(leftover, ignore_errors=True)

    def remove(self, key: str) -> None:
        """Take an entry away, if it is there."""
        self._remove(self.folder_of(key))

    def _remove(self, folder: Path) -> None:
        """Take an entry away whole: renamed first, so that no reader meets half of it."""
        temporary = self._temporary()
        try:
            temporary.parent.mkdir(parents=True, exist_ok=True)
            folder.rename(temporary)
        except OSError:
            return  # another process took it away, or the cache is read-only
        shutil.rmtree(temporary, ignore_errors=True)

    # ---- Looking after it ------------------------------------------------------------------------------

    def entries(self) -> list[Summary]:
        """All entries, the most recently used first."""
        summaries: list[Summary] = []
        for folder in self._folders():
            try:
                build = json.loads((folder / "build.json").read_bytes())
                summaries.append(
                    Summary(
                        folder.name,
                        build["source"],
                        build["arch"],
                        tuple(kernel["name"] for kernel in build["kernels"]),
                        _size(folder),
                        build["built"],
                        folder.stat().st_mtime,
                    )
                )
            except (OSError, ValueError, KeyError, TypeError):
                continue  # damaged, or gone meanwhile: load() will say so
        return sorted(summaries, key=lambda summary: -summary.last_used)

    def find(self, prefix: str) -> Path:
        """The folder of the one entry whose key starts with `prefix`."""
        matches = [folder for folder in self._folders() if prefix and folder.name.startswith(prefix)]
        if len(matches) == 1:
            return matches[0]
        if not matches:
            raise FlashpathError("jit.no-cache-entry", prefix=prefix)
        raise FlashpathError("jit.cache-entries", count=len(matches), prefix=prefix)

    def clear(self) -> tuple[int, int]:
        """Remove everything; returns how many entries and bytes went."""
        folders = list(self._folders())
        size = sum(_size(folder) for folder in folders)
        for folder in folders:
            self._remove(folder)
        shutil.rmtree(self.index, ignore_errors=True)
        self._tally.forget()
        return len(folders), size

    def _folders(self) -> list[Path]:
        return [folder for folder in self.folder.glob("[0-9a-f][0-9a-f]/*") if folder.is_dir()]

    def folder_of(self, key: str) -> Path:
        """The folder of an entry, whether it is there or not."""
        return self.folder / key[:2] / key

    def _temporary(self) -> Path:
        return self.folder / "tmp" / f"{os.getpid()}-{uuid.uuid4().hex}"


def _warn(code: str, **params: Any) -> None:
    """Says what the caller of fp.compile should know; nothing of a result depends on it."""
    warnings.warn(say(code, **params), CacheWarning, stacklevel=4)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _seal(build: Mapping[str, Any]) -> str:
    """The digest of build.json's own content: what it says of the kernels is as precious as their code."""
    return _digest(json.dumps(build, sort_keys=True, ensure_ascii=True).encode())


def _sealed(build: dict[str, Any]) -> dict[str, Any]:
    if build.pop("seal") != _seal(build):
        raise _Changed("build.json")
    return build


def _modified(folder: Path) -> float:
    try:
        return folder.stat().st_mtime
    except OSError:
        return time.time()  # gone meanwhile: nobody's leftover


def _size(folder: Path) -> int:
    try:
        return sum(file.stat().st_size for file in folder.iterdir())
    except OSError:
        return 0  # gone meanwhile


def _write_new(path: Path, data: bytes) -> None:
    with path.open("xb") as file:
        file.write(data)
