"""What a child sees of the file system: mounts of what it may read, list or write, and nothing else.

Landlock keeps files from being read; whether they are there, how long they are and when they changed it tells
anybody. In a tree without them there is nothing to ask about. It needs a namespace of mounts, which a system
may refuse.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
from collections.abc import Iterable, Sequence
from typing import Any

_BIND, _RECURSIVE, _PRIVATE, _NO_SUID = 0x1000, 0x4000, 1 << 18, 2
_DETACH = 2
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}


def narrow(steps: Iterable[Sequence[str]], folder: str) -> bool:
    """Makes that tree the root of this process, with every path where it was; False where it cannot be done.

    The steps are `sandbox/tree.py`'s. The tree is mounted on a folder in the child's own, and until the last
    step nothing is changed outside of it.
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
        for what, path, leads_to in steps:
            with contextlib.suppress(FileNotFoundError):  # gone since it was looked up
                _do(libc, what, root, path, leads_to)
        os.makedirs(root + folder, exist_ok=True)  # noqa: PTH103
        _mount(libc, folder, root + folder, None, _BIND)  # without what is mounted in it: this tree
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


def _do(libc: Any, what: str, root: str, path: str, leads_to: str) -> None:
    at = root + path
    if what == "link":
        os.symlink(leads_to, at)  # noqa: PTH211
        return
    if what == "file":
        os.close(os.open(at, os.O_CREAT | os.O_WRONLY, 0o600))
    else:
        os.mkdir(at)  # noqa: PTH102
    if what != "folder":
        _mount(libc, path, at, None, _BIND | _RECURSIVE)


def _mount(libc: Any, source: str, at: str, kind: str | None, flags: int) -> None:
    names = (os.fsencode(source), os.fsencode(at), kind.encode() if kind else None)
    if libc.mount(*names, ctypes.c_ulong(flags), None) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), at)
