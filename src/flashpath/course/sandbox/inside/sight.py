"""What a child sees of the file system: mounts of what it may read, list or write, and nothing else.

Landlock keeps files from being read; whether they are there, how long they are and when they changed it tells
anybody. In a tree without them there is nothing to ask about. It needs a namespace of mounts, which
`restrict.leave_network` has made where the system lets users make one.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

_BIND, _RECURSIVE, _PRIVATE, _NO_SUID = 0x1000, 0x4000, 1 << 18, 2
_DETACH = 2
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}


def narrow(readable: Iterable[str], listable: Iterable[str], writable: Iterable[str], folder: str) -> bool:
    """Makes that tree the root of this process, with every path where it was; False where it cannot be done.

    The tree begins as an empty one, mounted on a folder in the child's own. Until the last step nothing is
    changed outside of it.
    """
    number = _PIVOT_ROOT.get(os.uname().machine)
    if number is None:
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    folder = os.path.realpath(folder)
    root = f"{folder}/.tree"
    try:
        os.mkdir(root)  # noqa: PTH102
        _mount(libc, "none", "/", None, _RECURSIVE | _PRIVATE)
        _mount(libc, "tmpfs", root, "tmpfs", _NO_SUID)
        tree = Tree(libc, root, {os.path.realpath(each) for each in listable})
        for each in sorted({os.path.realpath(each) for each in (*readable, *writable, "/proc")} - {folder}):
            tree.show(each)
        tree.show(folder, _BIND)  # without what is mounted in it: this tree
        for each in (*sys.path, sys.prefix, sys.base_prefix, sys.executable, *readable, *writable):
            tree.link_the_way_to(each)
        tree.link_parts()
        os.chdir(root)
        if libc.syscall(number, b".", b".") != 0:
            raise OSError(ctypes.get_errno(), "pivot_root")
        if libc.umount2(b".", _DETACH) != 0:  # the former root lies over the new one
            os._exit(1)
    except OSError:
        libc.umount2(os.fsencode(root), _DETACH)
        return False
    finally:
        os.chdir(folder)
        with contextlib.suppress(OSError):
            os.rmdir(root)  # noqa: PTH106
    return True


class Tree:
    """The new root, while it is made."""

    def __init__(self, libc: Any, root: str, listable: set[str]) -> None:
        self._libc, self._root, self._listable = libc, root, listable
        self._shown: set[str] = set()
        for each in sorted(listable):
            os.makedirs(self._at(each), exist_ok=True)  # noqa: PTH103
        for entry in os.scandir("/"):
            if entry.is_symlink():
                self._link(entry.path)

    def show(self, path: str, how: int = _BIND | _RECURSIVE) -> None:
        """Everything under the path is there as it is."""
        if self._is_shown(path) or not os.path.lexists(path):
            return
        at = self._at(path)
        if Path(path).is_dir():
            os.makedirs(at, exist_ok=True)  # noqa: PTH103
        else:
            os.makedirs(os.path.dirname(at), exist_ok=True)  # noqa: PTH103, PTH120
            os.close(os.open(at, os.O_CREAT | os.O_WRONLY, 0o600))
        _mount(self._libc, path, at, None, how)
        self._shown.add(path)

    def link_the_way_to(self, path: str) -> None:
        """Symbolic links that stand in the path stand there in the tree too."""
        for each in (*reversed(Path(path).parents), Path(path)):
            if each.is_symlink():
                self._link(str(each))

    def link_parts(self) -> None:
        """Symbolic links in folders that may be listed, if what they name is there."""
        for folder in self._listable:
            with contextlib.suppress(OSError):
                for entry in os.scandir(folder):
                    if entry.is_symlink() and self._is_shown(os.path.realpath(entry.path)):
                        self._link(entry.path)

    def _link(self, path: str) -> None:
        place = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))  # noqa: PTH118, PTH119, PTH120
        if self._is_shown(place):
            return
        with contextlib.suppress(FileExistsError):
            os.makedirs(os.path.dirname(self._at(place)), exist_ok=True)  # noqa: PTH103, PTH120
            os.symlink(os.readlink(path), self._at(place))  # noqa: PTH115, PTH211

    def _is_shown(self, path: str) -> bool:
        return path in self._shown or any(str(each) in self._shown for each in Path(path).parents)

    def _at(self, path: str) -> str:
        return self._root + path


def _mount(libc: Any, source: str, at: str, kind: str | None, flags: int) -> None:
    names = (os.fsencode(source), os.fsencode(at), kind.encode() if kind else None)
    if libc.mount(*names, ctypes.c_ulong(flags), None) != 0:
        raise OSError(ctypes.get_errno(), "mount", at)
