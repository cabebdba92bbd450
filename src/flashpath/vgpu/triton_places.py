"""Where Triton's own functions are called: Triton's compiler notes it in comments, here PTX gets to say it.

`tl.sum` is Python of the package `triton`, inlined into the user's kernel. LLVM writes of such an instruction

    .loc 2 263 15    // standard.py:263:15 @[ standard.py:293:36 @[ softmax.py:9:15 ] ]

with the calls, from the inside out, in a comment only. PTX has `inlined_at` for them, as nvcc writes it.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import re
from pathlib import Path

from flashpath.vgpu.device import LibraryName
from flashpath.vgpu.ptx import source_files

_LOCATION_NUMBER = re.compile(r"^\s*\.loc\s+(\d+)", re.MULTILINE)
_LOCATION = re.compile(
    r"^(?P<before>[ \t]*)(?P<own>\.loc\s+(?P<file>\d+)\s+\d+\s+\d+)[ \t]*//.*@\[.*$", re.MULTILINE
)
_CALL = re.compile(r"@\[ (.*?):(\d+):(\d+)")


@functools.cache
def _folder() -> str:
    package = importlib.util.find_spec("triton")  # not imported: the PTX may come from another process
    assert package is not None, "PTX of Triton's, but no Triton"
    assert package.origin is not None, "a Triton without a file"
    return f"{Path(package.origin).parent}{os.sep}"


def library_name(path: str) -> str | None:
    """The name of a file of Triton's; None for the user's own."""
    path = os.path.normpath(path)
    return f"triton/{path.removeprefix(_folder())}" if path.startswith(_folder()) else None


def with_calls(ptx: str, library_name: LibraryName) -> str:
    """PTX in which each place in a library says where the user's source calls it; all lines stay in place."""
    files = source_files(ptx)
    libraries = {number for number, path in files.items() if library_name(path) is not None}
    numbers: dict[str, list[str]] = {}  # the comments have the names of files without their folders
    for number, path in files.items():
        numbers.setdefault(Path(path).name, []).append(number)
    kernel = _LOCATION_NUMBER.search(ptx)  # the first place is that of the kernel itself

    def users_call(calls: list[tuple[str, str]]) -> str | None:
        """The innermost call from a file of the user's."""
        for k, (name, place) in enumerate(calls, 1):
            alike = numbers.get(name, [])
            if len(alike) > 1:  # which of them is known of the outermost call only
                alike = [number for number in alike if k == len(calls) and kernel and number == kernel[1]]
            if alike and alike[0] not in libraries:
                return f"{alike[0]} {place}"
        return None

    def spelled(location: re.Match[str]) -> str:
        if location["file"] not in libraries:
            return location[0]
        call = users_call([(name, f"{line} {column}") for name, line, column in _CALL.findall(location[0])])
        if call is None:
            return location[0]
        return f"{location['before']}.loc {call} {location['own']}, inlined_at {call}"

    return _LOCATION.sub(spelled, ptx) if libraries else ptx
