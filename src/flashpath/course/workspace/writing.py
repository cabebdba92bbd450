"""Writing into a work folder: each file whole or not at all, and never over what a learner wrote.

`.flashpath/written.json` keeps a digest of every file as it was written here. A file that still has it was
not touched, and is brought up to date; any other is the learner's.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Any, Literal, cast

from flashpath.course.speech import said
from flashpath.course.workspace.marker import WorkspaceError

RECORD = ".flashpath/written.json"
_UNFINISHED = ".flashpath-tmp"

Outcome = Literal["new", "same", "updated", "kept"]


class Writer:
    """Puts files into one folder. `close()` keeps the record, of an interrupted run as well."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.written = _record(root)
        self.outcomes: dict[str, Outcome] = {}

    @property
    def counts(self) -> Counter[Outcome]:
        return Counter(self.outcomes.values())

    def put(self, path: str, content: str | bytes) -> Outcome:
        """Write a file, unless it is there and the learner's."""
        data = content.encode() if isinstance(content, str) else content
        self.outcomes[path] = outcome = self._put(path, data)
        if outcome != "kept":
            self.written[path] = _digest(data)
        return outcome

    def _put(self, path: str, data: bytes) -> Outcome:
        target = self.root / path
        if target.is_symlink() or target.exists():
            if target.is_symlink() or not target.is_file():
                return "kept"
            there = target.read_bytes()
            if there == data:
                return "same"
            if self.written.get(path) != _digest(there):
                return "kept"
            write_whole(target, data)
            return "updated"
        write_whole(target, data)
        return "new"

    def replace(self, path: str, content: str) -> None:
        """Write a file that is flashpath's own, whatever is there."""
        target = self.root / path
        data = content.encode()
        if not target.is_file() or target.read_bytes() != data:
            write_whole(target, data)

    def close(self) -> None:
        self.replace(RECORD, json.dumps(self.written, ensure_ascii=False, indent=0, sort_keys=True) + "\n")


def write_whole(target: Path, data: bytes) -> None:
    """Under another name first, so that a file is never there in part."""
    unfinished = target.with_name(f".{target.name}{_UNFINISHED}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        unfinished.write_bytes(data)
        unfinished.replace(target)
    except BaseException as error:
        with contextlib.suppress(OSError):  # what stopped the write may stop this; the next start mends it
            unfinished.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise explained(target, error) from None
        raise


def is_unfinished(path: Path) -> bool:
    """Whether it is what an interrupted write leaves behind."""
    return path.name.endswith(_UNFINISHED)


def explained(target: Path, error: OSError) -> WorkspaceError:
    """Why a file could not be written, and what to do."""
    room = (
        "There is no room left. Make some and start again: the rest is added.",
        "空间已满。请腾出空间后再次运行，余下的会补上。",
    )
    elsewhere = (
        "You may not write there. Name another folder with --into.",
        "没有写入权限。请用 --into 指定别的目录。",
    )
    is_file = (
        "A part of that path is a file. Move it away, or name another folder with --into.",
        "路径中有一段是文件。请移走它，或用 --into 指定别的目录。",
    )
    fixes = {
        errno.ENOSPC: room,
        errno.EDQUOT: room,
        errno.EROFS: elsewhere,
        errno.EACCES: elsewhere,
        errno.EPERM: elsewhere,
        errno.ENOTDIR: is_file,
        errno.EEXIST: is_file,
    }
    fix = fixes.get(error.errno or 0, ("Name another folder with --into.", "请用 --into 指定别的目录。"))
    why = error.strerror or error
    return WorkspaceError(
        said(f"{target} cannot be written: {why}.", f"无法写入 {target}：{why}。"), said(*fix)
    )


def _record(root: Path) -> dict[str, str]:
    """Empty where there is none, or where it is damaged: then every file counts as the learner's."""
    try:
        value: Any = json.loads((root / RECORD).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    entries = cast("dict[Any, Any]", value if isinstance(value, dict) else {})
    return {str(path): digest for path, digest in entries.items() if isinstance(digest, str)}


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
