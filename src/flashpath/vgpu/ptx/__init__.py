"""The error of PTX text that the virtual GPU cannot read."""

from __future__ import annotations

import json

from flashpath.errors import FlashpathError
from flashpath.messages import Message


class PtxError(FlashpathError):
    """PTX text that is not well formed. `line` and `column` count from 1, in the text."""

    def __init__(self, problem: str, line: int, column: int) -> None:
        """Takes what the engine's ParseError has; the problem is a message as JSON."""
        super().__init__("vgpu.ptx", problem=Message.from_data(json.loads(problem)), line=line, column=column)
        self.line = line
        self.column = column
