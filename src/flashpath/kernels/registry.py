"""Finds ladders: every folder beside this file whose `ladder.py` defines `LADDER`."""

from __future__ import annotations

import difflib
import importlib
from pathlib import Path

from flashpath.errors import FlashpathError
from flashpath.kernels.rung import Ladder


class UnknownLadder(FlashpathError):
    """There is no ladder of that name."""


def ladders() -> list[str]:
    """The names of all ladders."""
    return sorted(file.parent.name for file in Path(__file__).parent.glob("*/ladder.py"))


def ladder(name: str) -> Ladder:
    """The ladder of that name."""
    names = ladders()
    if name not in names:
        near = difflib.get_close_matches(name, names, n=1)
        fix = f"Did you mean {near[0]!r}? " if near else ""
        raise UnknownLadder(f"There is no ladder {name!r}.", f"{fix}The ladders: {', '.join(names)}.")
    found: Ladder = importlib.import_module(f"flashpath.kernels.{name}.ladder").LADDER
    return found
