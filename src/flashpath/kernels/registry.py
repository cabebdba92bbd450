"""Finds ladders: every folder under this one whose `ladder.py` defines `LADDER`.

The name is the folder's path: `matmul/ladder.py` has the ladder matmul, `attention/decode/ladder.py` has
attention_decode.
"""

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
    return sorted(_modules())


def ladder(name: str) -> Ladder:
    """The ladder of that name."""
    modules = _modules()
    if name not in modules:
        near = difflib.get_close_matches(name, modules, n=1)
        code = "kernels.no-ladder-but" if near else "kernels.no-ladder"
        raise UnknownLadder(code, name=name, known=sorted(modules), near=near)
    found: Ladder = importlib.import_module(modules[name]).LADDER
    return found


def _modules() -> dict[str, str]:
    """Each ladder's name, and the module that defines it."""
    here = Path(__file__).parent
    folders = [file.parent.relative_to(here).parts for file in here.rglob("ladder.py")]
    return {"_".join(parts): ".".join(("flashpath.kernels", *parts, "ladder")) for parts in folders}
