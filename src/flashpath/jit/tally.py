"""How much a cache holds, by and large: known without looking at what it holds.

Whoever stores an entry appends its size, eight bytes, to one file; their sum says whether it is time to
look. Appending is one write, which no other process can cut in two. What is removed behind the file's back
makes the sum too large, which costs a look too early, and nothing else.
"""

from __future__ import annotations

import contextlib
import os
import struct
import uuid
from pathlib import Path

_SIZE = struct.Struct("<Q")
MOST_SIZES = 4096  # then somebody looks, whatever the sum: the file stays small, and errors do not add up


class Tally:
    """The sizes in one file."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def add(self, size: int) -> int | None:
        """Adds an entry; returns the sum of all, or None where somebody has to look what there is."""
        if not self._file.is_file():
            return None
        with self._file.open("ab", buffering=0) as file:
            file.write(_SIZE.pack(size))
        data = self._file.read_bytes()
        if len(data) % _SIZE.size or len(data) > MOST_SIZES * _SIZE.size:
            return None
        return sum(each for (each,) in _SIZE.iter_unpack(data))

    def restart(self, total: int) -> None:
        """From now on the sum begins with this."""
        temporary = self._file.with_name(f"{self._file.name}-{os.getpid()}-{uuid.uuid4().hex}")
        try:
            temporary.write_bytes(_SIZE.pack(total))
            temporary.replace(self._file)
        finally:
            temporary.unlink(missing_ok=True)

    def forget(self) -> None:
        """Nothing is known: the next one looks."""
        with contextlib.suppress(OSError):
            self._file.unlink()
