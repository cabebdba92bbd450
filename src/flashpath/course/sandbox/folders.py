"""A child's folder: made, measured while the child writes, and removed whatever the child has left in it.

A learner's code may nest folders deeper than a path can name and take away their permissions. Nothing here
recurses, no name longer than one step is used, and none of the three raises for what it finds.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import hashlib
import os
import secrets
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PREFIX = "flashpath-sandbox-"
_STALE_SECONDS = 3600.0
_BY_HANDLE = {os.open, os.stat, os.unlink, os.rmdir, os.rename, os.chmod} <= os.supports_dir_fd
_OPEN_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_ALL_MINE = stat.S_IRWXU
_DEEPEST = 32
_BLOCK = 512  # the unit of st_blocks, whatever the file system's own is


# ---- Made ----------------------------------------------------------------------------------------------


def make_folder() -> Path:
    """A new folder that is named after this process, so that others can tell when nobody needs it."""
    own = os.getpid()
    return Path(tempfile.mkdtemp(prefix=f"{PREFIX}{own}-{_started(own) or 0}-{_where()}-"))


def _started(process: int) -> int | None:
    """When the process began, in the kernel's ticks: its number may be another one's later."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        return int(fields[19])
    except (OSError, ValueError, IndexError):
        return None


@functools.cache
def _where() -> str:
    """The machine, its start and its container: numbers of processes mean something only within one."""
    known = [os.uname().nodename if sys.platform != "win32" else ""]
    with contextlib.suppress(OSError):
        known.append(Path("/proc/sys/kernel/random/boot_id").read_text())
    with contextlib.suppress(OSError, AttributeError):
        known.append(os.readlink("/proc/self/ns/pid"))  # noqa: PTH115 - it leads to no path
    return hashlib.sha256("\n".join(known).encode()).hexdigest()[:8]


# ---- Measured ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Used:
    """What a folder holds; counting ends where one of the bounds is passed."""

    bytes: int = 0
    files: int = 0
    too_deep: bool = False


def measure(folder: Path, most_bytes: int, most_files: int, process: int | None = None) -> Used:
    """The bytes, files and folders in `folder`; with `process`, also files that it has deleted and holds."""
    size = files = 0
    waiting = [(str(folder), 0)]
    while waiting:
        path, depth = waiting.pop()
        try:
            entries = _listed(path)
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG:
                return Used(size, files, too_deep=True)
            continue  # gone by now
        for entry in entries:
            files += 1
            if entry.is_dir(follow_symlinks=False):
                if depth >= _DEEPEST:
                    return Used(size, files, too_deep=True)
                waiting.append((entry.path, depth + 1))
            else:
                size += _taken(entry)
            if size > most_bytes or files > most_files:
                return Used(size, files)
    return Used(size + _deleted_bytes(process), files)


def _listed(path: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(path) as entries:
            return list(entries)
    except PermissionError:  # made without the bit that lets one list it
        os.chmod(path, _ALL_MINE)  # noqa: PTH101 - a text, for speed
        with os.scandir(path) as entries:
            return list(entries)


def _taken(entry: os.DirEntry[str]) -> int:
    try:
        found = entry.stat(follow_symlinks=False)
    except OSError:
        return 0
    return _bytes_of(found)


def _bytes_of(found: os.stat_result) -> int:
    blocks = getattr(found, "st_blocks", None)
    return found.st_size if blocks is None else blocks * _BLOCK


def _deleted_bytes(process: int | None) -> int:
    """A file that is deleted while it is open takes its room until it is closed."""
    if process is None or sys.platform != "linux":
        return 0
    size = 0
    with contextlib.suppress(OSError), os.scandir(f"/proc/{process}/fd") as opened:
        for each in opened:
            with contextlib.suppress(OSError):
                found = each.stat()
                if stat.S_ISREG(found.st_mode) and found.st_nlink == 0:
                    size += _bytes_of(found)
    return size


# ---- Removed -------------------------------------------------------------------------------------------


def remove_folder(folder: Path) -> None:
    """Remove all of it. What the system does not let go stays; nothing is raised for it."""
    if not _BY_HANDLE:
        # Where paths are all that there is, they cannot be nested deeper than a path is long.
        with contextlib.suppress(OSError, RecursionError):
            shutil.rmtree(folder, ignore_errors=True)
        return
    with contextlib.suppress(OSError):
        folder.chmod(_ALL_MINE)
    with contextlib.suppress(OSError):
        root = os.open(folder, _OPEN_FOLDER)
        try:
            _empty(root)
        finally:
            os.close(root)
    with contextlib.suppress(OSError):
        folder.rmdir()


def _empty(root: int) -> None:
    """Folders that are found in folders are moved up to the root, so that none is ever deep."""
    mark = secrets.token_hex(8)
    moved = 0
    waiting = list(_cleared(root))
    while waiting:
        name = waiting.pop()
        with contextlib.suppress(OSError):
            folder = os.open(name, _OPEN_FOLDER, dir_fd=root)
            try:
                for inner in _cleared(folder):
                    moved += 1
                    above = f"{mark}-{moved}"
                    with contextlib.suppress(OSError):
                        os.rename(inner, above, src_dir_fd=folder, dst_dir_fd=root)
                        waiting.append(above)
            finally:
                os.close(folder)
        with contextlib.suppress(OSError):
            os.rmdir(name, dir_fd=root)


def _cleared(folder: int) -> Iterator[str]:
    """Delete the files; name the folders, with all that it takes to open, empty and move them allowed."""
    with os.scandir(folder) as entries:
        found = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    for name, is_folder in found:
        with contextlib.suppress(OSError):
            if not is_folder:
                os.unlink(name, dir_fd=folder)
                continue
            os.chmod(name, _ALL_MINE, dir_fd=folder)
            yield name


# ---- Swept ---------------------------------------------------------------------------------------------


@functools.cache
def sweep() -> None:
    """Remove the folders of children whose parents were killed before they could; once in a process."""
    if os.name != "posix":
        return
    with contextlib.suppress(OSError):
        for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*-*"):
            with contextlib.suppress(OSError, ValueError):
                if _is_own(folder) and _is_abandoned(folder):
                    remove_folder(folder)


def _is_own(folder: Path) -> bool:
    """A folder of this user's, and no link to one: others may write into the same place."""
    found = folder.lstat()
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()


def _is_abandoned(folder: Path) -> bool:
    parts = folder.name.removeprefix(PREFIX).split("-")
    owner = int(parts[0])
    if len(parts) == 4 and parts[2] == _where():
        began = _started(owner)
        return not _is_running(owner) or (began is not None and int(parts[1]) not in (0, began))
    # An owner that cannot be seen may be in another container that shares the folder: give it time.
    is_old = time.time() - folder.stat().st_mtime > _STALE_SECONDS
    return is_old and not _is_running(owner)


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    return True
