"""Where the profilers are: on PATH, in a CUDA toolkit, or where NVIDIA's installers put them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from flashpath.bench.nsight.session import Problem
from flashpath.jit import toolkit
from flashpath.messages import Message, say

Name = Literal["ncu", "nsys"]

_PRODUCTS: dict[Name, str] = {"ncu": "Nsight Compute", "nsys": "Nsight Systems"}
_GIVES: dict[Name, str] = {
    "ncu": "bench.nsight-ncu-gives",
    "nsys": "bench.nsight-nsys-gives",
}
# Below /opt/nvidia, the newest first. The nsys inside Nsight Compute is left out: it lacks the importer that
# makes a report of what it records.
_INSTALLED: dict[Name, tuple[str, ...]] = {
    "ncu": ("nsight-compute/*/ncu",),
    "nsys": ("nsight-systems/*/bin/nsys", "nsight-systems-cli/*/bin/nsys"),
}
ROOT = Path("/")


def find(name: Name) -> Path | None:
    """The profiler of that name; of several, the one on PATH, a toolkit's, or the newest."""
    if found := toolkit.program(name):
        return found
    return next((path for path in _installed(name) if os.access(path, os.X_OK)), None)


def _installed(name: Name) -> Iterator[Path]:
    yield from _newest_first(ROOT / "usr/local", f"cuda-*/bin/{name}")
    for pattern in _INSTALLED[name]:
        yield from _newest_first(ROOT / "opt/nvidia", pattern)


def _newest_first(folder: Path, pattern: str) -> list[Path]:
    def version(path: Path) -> list[int]:
        return [int(number) for number in re.findall(r"\d+", str(path.relative_to(folder)))]

    return sorted(folder.glob(pattern), key=version, reverse=True)


def missing(name: Name) -> Problem:
    """Returns what to tell where it is not found."""
    return Problem(
        name,
        say("bench.nsight-missing", tool=name, gives=Message(_GIVES[name])),
        say("bench.nsight-install", product=_PRODUCTS[name]),
    )
