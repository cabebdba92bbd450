"""The instructions of a kernel beside their places in the source: made once, read by every report of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from flashpath.vgpu._engine import LaunchResult, Program


@dataclass(frozen=True)
class Place:
    """The place of an instruction: its opcode in PTX, and the file and line it was compiled from."""

    opcode: str  # empty: the engine's own addition
    file: str  # of what the user wrote: what a library's header gave has the place that it was called at
    line: int  # 0 where it is unknown
    library: str = ""  # such as "cuda/pipeline:491": where it stands in a library, if it does


class Listing:
    """The places of a program's instructions, and those that share one: an unrolled loop has thousands."""

    def __init__(self, program: Program, library_names: Mapping[int, str] = MappingProxyType({})) -> None:
        files = program.files
        shared: dict[tuple[str, int, int, int, int], int] = {}
        group_of = [
            shared.setdefault((opcode, file, line, inner, inner_line), len(shared))
            for opcode, _, file, line, inner, inner_line in program.origins
        ]
        # A line whose file the PTX does not name is no place.
        self.groups = [
            Place(opcode, files[file], line, f"{library_names[inner]}:{inner_line}" if inner_line else "")
            if line and file < len(files)
            else Place(opcode, "", 0)
            for opcode, file, line, inner, inner_line in shared
        ]
        self._group_of = group_of
        self._order: NDArray[Any] = np.argsort(np.array(group_of), kind="stable")
        self._starts = np.searchsorted(np.array(group_of)[self._order], np.arange(len(self.groups)))

    def __getitem__(self, instruction: int) -> Place:
        return self.groups[self._group_of[instruction]]

    def sums(self, result: LaunchResult) -> list[tuple[Place, dict[str, int]]]:
        """Returns what was counted at each place where anything ran: counters by their names."""
        names = result.counter_names
        table = np.add.reduceat(result.instructions[self._order], self._starts)
        issued = names.index("warps")
        return [
            (place, dict(zip(names, counted, strict=True)))
            for place, counted in zip(self.groups, table.tolist(), strict=True)
            if place.opcode and counted[issued]
        ]
