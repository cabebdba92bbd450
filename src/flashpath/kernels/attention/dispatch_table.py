"""What the rungs of attention that a call may choose between took on GPUs: the data of dispatch_table.json.

`python benchmarks/dispatch_table.py benchmarks/results/<gpu>.json` writes it from a benchmark's records.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flashpath.errors import FlashpathError

FILE = Path(__file__).with_suffix(".json")
# The rungs of the ladder that backends are, by direction.
RUNGS: Mapping[str, Mapping[str, str]] = {
    "forward": {"triton": "flash_v2_triton", "cuda": "flash_v2_cuda"},
    "backward": {"triton": "flash_v2_triton_backward", "cuda": "flash_v2_cuda_backward"},
}


@dataclass(frozen=True)
class Cell:
    """One measured problem: what each backend took."""

    capability: tuple[int, int]
    direction: str
    dim: int
    causal: bool
    sequence: int
    microseconds: Mapping[str, float]
    gpu: str

    @property
    def fastest(self) -> str:
        return min(self.microseconds, key=lambda backend: self.microseconds[backend])

    @property
    def place(self) -> str:
        """In words."""
        return f"{self.sequence:,} tokens, dim {self.dim}, {'causal' if self.causal else 'full'}"

    @property
    def times(self) -> str:
        """The fastest first."""
        ordered = sorted(self.microseconds.items(), key=lambda item: item[1])
        return ", ".join(f"{backend} {time:,.0f} µs" for backend, time in ordered)


@dataclass(frozen=True)
class Table:
    """All cells, and the runs that they were measured in."""

    runs: tuple[str, ...] = ()
    cells: tuple[Cell, ...] = ()

    def nearest(
        self,
        capability: tuple[int, int],
        direction: str,
        dim: int,
        causal: bool,
        sequence: int,
        count: int = 1,
    ) -> list[Cell]:
        """Cells of the same capability, direction and mask: by dimension first, then by length, as ratios."""

        def distance(cell: Cell) -> tuple[float, float]:
            return abs(math.log2(cell.dim / dim)), abs(math.log2(cell.sequence / max(1, sequence)))

        alike = (capability, direction, causal)
        found = [cell for cell in self.cells if (cell.capability, cell.direction, cell.causal) == alike]
        return sorted(found, key=distance)[:count]


@functools.cache
def table() -> Table:
    """The one that the package has."""
    return read(FILE)


def read(path: Path) -> Table:
    try:
        data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return Table(tuple(data["runs"]), tuple(_cell(each) for each in data["cells"]))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise FlashpathError(
            f"{path} is no table of measured attention: {type(error).__name__}: {error}",
            "python benchmarks/dispatch_table.py writes it again.",
        ) from None


def _cell(data: Mapping[str, Any]) -> Cell:
    major, minor = map(int, str(data["capability"]).split("."))
    microseconds = {str(backend): float(time) for backend, time in data["microseconds"].items()}
    if not microseconds or data["direction"] not in RUNGS:
        raise ValueError(f"no cell: {data}")
    return Cell(
        (major, minor),
        data["direction"],
        int(data["dim"]),
        bool(data["causal"]),
        int(data["sequence"]),
        microseconds,
        str(data["gpu"]),
    )


def write(path: Path, runs: Sequence[str], cells: Sequence[Cell]) -> None:
    """A cell to a line."""
    lines = [
        json.dumps(
            {
                "gpu": cell.gpu,
                "capability": "{}.{}".format(*cell.capability),
                "direction": cell.direction,
                "dim": cell.dim,
                "causal": cell.causal,
                "sequence": cell.sequence,
                "microseconds": {name: round(time, 1) for name, time in cell.microseconds.items()},
            },
            ensure_ascii=False,
        )
        for cell in cells
    ]
    body = ",\n  ".join(lines)
    text = f'{{\n "made_by": "python benchmarks/dispatch_table.py",\n "runs": {json.dumps(list(runs))},\n'
    text += f' "cells": [\n  {body}\n ]\n}}\n' if lines else ' "cells": []\n}\n'
    path.write_text(text, encoding="utf-8")
