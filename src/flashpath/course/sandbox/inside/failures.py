"""What a child that runs compilers says when they fail: no more than anyone reads, whatever they quote."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, cast

from flashpath.errors import FlashpathError
from flashpath.jit.diagnostics import CompileError, Diagnostic
from flashpath.messages import Message

# A compiler quotes what a learner wrote: no line of it is longer, and no message has more lines.
_LONGEST_LINE, _MOST_LINES = 1_000, 400
_MOST_DIAGNOSTICS = 50


def bounded(text: str) -> str:
    """Returns the text with its longest lines, and what comes after many lines, cut off."""
    lines = text.split("\n", _MOST_LINES)
    kept = [
        line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]} …" for line in lines[:_MOST_LINES]
    ]
    return "\n".join([*kept, *(["…"] if len(lines) > _MOST_LINES else [])])


def as_answer(error: FlashpathError) -> dict[str, Any]:
    """Returns the header that tells the session of an error, with the compilers' first messages."""
    found = error.diagnostics[:_MOST_DIAGNOSTICS] if isinstance(error, CompileError) else ()
    return {"failed": _short(error.said).as_data(), "diagnostics": [_row(each) for each in found]}


def _short(value: Any) -> Any:
    if isinstance(value, str):
        return bounded(value)
    if isinstance(value, Message):
        return Message(value.code, {name: _short(each) for name, each in value.params.items()})
    if isinstance(value, list | tuple):
        return [_short(each) for each in cast("Sequence[Any]", value)]
    return value


def _row(found: Diagnostic) -> dict[str, Any]:
    return {name: _short(value) for name, value in asdict(found).items()}
