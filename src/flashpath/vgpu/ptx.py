"""The error of PTX text that the virtual GPU cannot read."""

from __future__ import annotations

from flashpath.errors import FlashpathError


class PtxError(FlashpathError):
    """PTX text that is not well formed. `line` and `column` count from 1, in the text."""

    def __init__(self, problem: str, line: int, column: int) -> None:
        super().__init__("vgpu.ptx", problem=problem, line=line, column=column)
        self.line = line
        self.column = column
