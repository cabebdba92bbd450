"""What a program's executable tells of its host code: the lines of addresses, and which results it drops."""

from __future__ import annotations

import functools
import re
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from flashpath.jit import toolkit
from flashpath.jit.programs.errors import named_by_source
from flashpath.jit.programs.store import Program
from flashpath.vgpu.host_findings import Frame, Stack

Site = tuple[int, ...]
"""Addresses in the executable, from the innermost function outwards."""

HEADER = Path(__file__).parent / "unread_results.h"
CHECKED_FLAGS = (
    "-include",
    str(HEADER),
    "-diag-suppress=2809",  # the same, said by nvcc's own front end, twice
    "-Xcompiler=-g1,-Wunused-result",
)
"""Flags with which the host compiler keeps a line table, and tells of results that are dropped."""

_DROPPED = re.compile(
    r"^(?P<file>[^\n:]+):(?P<line>\d+):\d+: warning: ignoring return value of .*?\bcuda[A-Z]", re.MULTILINE
)
_STUBS = ".stub.c"  # what nvcc writes between a launch and the call below it


class HostCode:
    """The host's side of a program that was built to be checked."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self.dropped = frozenset(
            (self._as_given(found["file"]), int(found["line"])) for found in _DROPPED.finditer(program.log)
        )
        """Files and lines of calls whose results nobody reads."""

    def stacks(self, sites: Iterable[Site]) -> Mapping[Site, Stack]:
        """The lines of call sites."""
        wanted = set(sites)
        known = self._functions({address for site in wanted for address in site})
        return {site: self._own([each for address in site for each in known[address]]) for site in wanted}

    def _functions(self, addresses: Iterable[int]) -> dict[int, list[Frame]]:
        """Returns for each address its function, after those that the compiler inlined there."""
        ordered = sorted(addresses)
        frames: dict[int, list[Frame]] = {address: [] for address in ordered}
        command = [_addr2line(), "-e", str(self._program.path), "-a", "-f", "-i", "-C"]
        asked = "".join(f"{address:#x}\n" for address in ordered)
        try:
            told = subprocess.run(command, input=asked, capture_output=True, text=True, errors="replace")
        except OSError:  # findings are told without their lines then
            return frames
        of_one: list[Frame] = []
        function = ""
        for line in told.stdout.splitlines():
            if re.fullmatch(r"0x[0-9a-f]+", line):
                of_one = frames[int(line, 16)]
                function = ""
            elif not function:
                function = line
            else:
                file, _, number = line.partition(" (discriminator")[0].rpartition(":")
                is_known = number.isdigit() and not file.endswith(_STUBS)
                of_one.append(Frame(_plain(function), file, int(number) if is_known else 0))
                function = ""
        return frames

    def _own(self, frames: list[Frame]) -> Stack:
        """Those of the program's files. A launch comes by way of nvcc's stub and one function more."""
        stubs = [at for at, frame in enumerate(frames) if frame.function.startswith("__device_stub__")]
        after = frames[stubs[-1] + 2 :] if stubs else frames
        return tuple(
            frame
            for each in after
            if (frame := replace(each, file=self._as_given(each.file))).line and self._is_own(frame.file)
        )

    def _is_own(self, file: str) -> bool:
        """Whether it is a file of the program's, not of the toolkit, the compiler or nvcc's own making."""
        recipe = self._program.recipe
        path = (recipe.folder / file).resolve()
        if path in [(recipe.folder / given).resolve() for given in recipe.files]:
            return True
        return not any(path.is_relative_to(each) for each in _library_folders())

    def _as_given(self, file: str) -> str:
        """The path as the program's owner wrote it."""
        recipe = self._program.recipe
        path = (recipe.folder / named_by_source(file, recipe)).resolve()
        for given in recipe.files:
            if (recipe.folder / given).resolve() == path:
                return str(given)
        return str(path.relative_to(recipe.folder)) if path.is_relative_to(recipe.folder) else str(path)


def _addr2line() -> str:
    """It comes with the linker that every host compiler needs; beside the compiler, or on the path."""
    beside = toolkit.host_compiler_path().with_name("addr2line")
    return str(beside) if beside.is_file() else "addr2line"


@functools.cache
def _library_folders() -> tuple[Path, ...]:
    toolkits = toolkit.nvcc().path.resolve().parent.parent, *toolkit.headers().folders
    return Path("/usr"), *(folder.resolve() for folder in toolkits), HEADER.parent


def _plain(function: str) -> str:
    """`void scale<float>(float*)` as `scale`."""
    name = re.sub(r"<[^<>]*>", "", function.split("(")[0])
    return name.split()[-1] if name.split() else function
