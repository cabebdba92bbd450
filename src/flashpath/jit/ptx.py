"""Reads of PTX text what loading and explaining a kernel needs: entries, their parameters, source lines."""

from __future__ import annotations

import re
from dataclasses import dataclass

from flashpath.vgpu.ptx import source_files

_ENTRY = re.compile(
    r"^(?:\.(?:visible|weak|extern)\s+)*\.entry\s+(?P<name>[\w$.]+)\s*(?:\((?P<parameters>[^)]*)\))?(?P<rest>[^{;]*)"
    r"(?P<end>[{;])",
    re.MULTILINE,
)
_PARAMETER = re.compile(
    r"\.param\s+(?:\.align\s+(?P<align>\d+)\s+)?\.(?P<type>[a-z]+\d+)\s+"
    r"(?:\.ptr\s*(?:\.\w+\s*)?(?:\.align\s+\d+\s*)?)?[\w$.]+(?:\[(?P<count>\d+)\])?"
)
_LOC = re.compile(r"^\s*\.loc\s+(\d+)\s+(\d+)")


@dataclass(frozen=True)
class PtxParameter:
    """One `.param` of an entry: its PTX type, size and alignment in bytes."""

    type: str  # "u64", "f32", "b8" for structs
    size: int
    align: int


@dataclass(frozen=True)
class Entry:
    """One kernel in PTX text."""

    name: str
    parameters: tuple[PtxParameter, ...]
    text: str
    max_threads: int | None  # from __launch_bounds__


def entries(ptx: str) -> list[Entry]:
    """Every kernel that the text defines, in its order."""
    found: list[Entry] = []
    for match in _ENTRY.finditer(ptx):
        if match["end"] == ";":
            continue  # only a declaration
        parameters = tuple(_parameter(each) for each in _PARAMETER.finditer(match["parameters"] or ""))
        limit = re.search(r"\.(?:maxntid|reqntid)\s+(\d+)(?:\s*,\s*(\d+))?(?:\s*,\s*(\d+))?", match["rest"])
        threads = None
        if limit:
            x, y, z = (int(each or 1) for each in limit.groups())
            threads = x * y * z
        text = ptx[match.start() : _closing_brace(ptx, match.end() - 1)]
        found.append(Entry(match["name"], parameters, text, threads))
    return found


def _parameter(match: re.Match[str]) -> PtxParameter:
    size = int(re.sub(r"\D", "", match["type"])) // 8
    count = int(match["count"] or 1)
    return PtxParameter(match["type"], size * count, int(match["align"] or size))


def _closing_brace(ptx: str, opening: int) -> int:
    """The position after the brace that closes the one at `opening`; braces in strings do not count."""
    depth = 0
    for match in re.finditer(r'"(?:\\.|[^"\\])*"|//[^\n]*|[{}]', ptx[opening:]):
        if match.group() == "{":
            depth += 1
        elif match.group() == "}":
            depth -= 1
            if depth == 0:
                return opening + match.end()
    return len(ptx)


def source_line(ptx: str, line: int) -> tuple[str, int] | None:
    """The source file and line behind a line of PTX: that of the last `.loc` above it."""
    files = source_files(ptx)
    for text in reversed(ptx.splitlines()[:line]):
        if loc := _LOC.match(text):
            return files.get(loc[1], ""), int(loc[2])
        if ".entry" in text:
            return None
    return None
