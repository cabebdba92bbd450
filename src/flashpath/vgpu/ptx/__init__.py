"""What PTX text says of its source files, and the error of text that the virtual GPU cannot read."""

from __future__ import annotations

import json
import re

from flashpath.errors import FlashpathError
from flashpath.messages import Message

_FILE = re.compile(r'^\s*\.file\s+(\d+)\s+"([^"]*)"', re.MULTILINE)


def source_files(ptx: str) -> dict[str, str]:
    """Returns the source files by the numbers that `.loc` has for them, as text."""
    return dict(_FILE.findall(ptx))


class PtxError(FlashpathError):
    """PTX text that is not well formed. `line` and `column` count from 1, in the text."""

    def __init__(self, problem: str, line: int, column: int) -> None:
        """Takes what the engine's ParseError has; the problem is a message as JSON."""
        super().__init__("vgpu.ptx", problem=Message.from_data(json.loads(problem)), line=line, column=column)
        self.line = line
        self.column = column
