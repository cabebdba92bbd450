"""The tree of mounts in which a child sees what it may read, list or write, and nothing else: how it is made.

What has to be looked up is looked up here, once for each kind of child; `inside/sight.py` carries it out.
"""

from __future__ import annotations

import contextlib
import functools
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from flashpath.course.sandbox.places import Places, package_folders

Step = tuple[str, str, str]
"""What is done, the path for which it is done, and where a link leads: a `folder` is made, empty; a `file` or
a `whole` folder is mounted; a `link` is made."""


@functools.lru_cache(maxsize=16)
def tree_of(places: Places) -> tuple[Step, ...]:
    """Returns the steps, in their order."""
    return tuple(_Tree().steps(places))


class _Tree:
    """What the tree has so far."""

    def __init__(self) -> None:
        self._folders: set[str] = {"/"}
        self._whole: set[str] = set()

    def steps(self, places: Places) -> Iterator[Step]:
        named = (*places.readable, *places.writable, Path("/proc"))
        listable = sorted({os.path.realpath(each) for each in places.listable})
        for each in sorted({os.path.realpath(each) for each in named}):
            yield from self._shown(each)
        for each in listable:
            if not self._is_there(each):
                yield from self._way_to(f"{each}/part")
        ways = (Path(sys.executable), *map(Path, (sys.prefix, sys.base_prefix, sys.exec_prefix)), *named)
        for entry in os.scandir("/"):
            yield from self._link(entry.path)
        for each in (*package_folders(), *map(Path, filter(None, sys.path)), *ways):
            for part in (*reversed(each.parents), each):
                yield from self._link(str(part))
        for folder in listable:
            with contextlib.suppress(OSError):
                for entry in os.scandir(folder):
                    if entry.is_symlink() and self._is_there(os.path.realpath(entry.path)):
                        yield from self._link(entry.path)

    def _shown(self, path: str) -> Iterator[Step]:
        if self._is_there(path) or not os.path.lexists(path):
            return
        yield from self._way_to(path)
        self._whole.add(path)
        yield ("whole" if Path(path).is_dir() else "file", path, "")

    def _way_to(self, path: str) -> Iterator[Step]:
        for each in reversed(Path(path).parents):
            if str(each) not in self._folders:
                self._folders.add(str(each))
                yield ("folder", str(each), "")

    def _link(self, path: str) -> Iterator[Step]:
        if not os.path.islink(path):  # noqa: PTH114 - texts, for speed
            return
        place = f"{os.path.realpath(os.path.dirname(path)).rstrip('/')}/{os.path.basename(path)}"  # noqa: PTH119, PTH120
        if not self._is_there(place):
            self._whole.add(place)
            yield from self._way_to(place)
            yield ("link", place, os.readlink(path))  # noqa: PTH115

    def _is_there(self, path: str) -> bool:
        return path in self._whole or any(str(each) in self._whole for each in Path(path).parents)
