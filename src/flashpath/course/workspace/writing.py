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

from flashpath.course.workspace.marker import WorkspaceError
from flashpath.messages import Message

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
                # The learner's by now; of what was written here before, nothing is newer.
                return "same" if self.written.get(path) == _digest(data) else "kept"
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
        if target.exists():
            unfinished.chmod(target.stat().st_mode & 0o777)
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


_ADVICE = {
    errno.ENOSPC: Message("course.workspace.no-room"),
    errno.EDQUOT: Message("course.workspace.no-room"),
    errno.EROFS: Message("course.workspace.not-allowed"),
    errno.EACCES: Message("course.workspace.not-allowed"),
    errno.EPERM: Message("course.workspace.not-allowed"),
    errno.ENOTDIR: Message("course.workspace.path-is-file"),
    errno.EEXIST: Message("course.workspace.path-is-file"),
}


def explained(target: Path, error: OSError) -> WorkspaceError:
    """Returns the error that says why a file could not be written, and what to do."""
    advice = _ADVICE.get(error.errno or 0, Message("course.workspace.name-another"))
    return WorkspaceError(
        "course.workspace.unwritable", target=target, why=error.strerror or str(error), advice=advice
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
